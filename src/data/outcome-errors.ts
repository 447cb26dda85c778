/** How rows and runs end that no answer of the service ended. */
import { Failure } from '../errors.js';
import type { ExitName } from '../exit-codes.js';
import type { ResourceName } from './resources.js';
import { shellQuote } from './words.js';

/** The record holds neither what was expected nor what was to be written: it is left as it is. */
export class ConflictError extends Failure {
  readonly kind = 'conflict';
  readonly exitName = 'conflict';
  readonly code = 'changedMeanwhile';
}

/** What a read shows of a write that was answered with yes, by field. */
export interface NotApplied {
  readonly resource: ResourceName;
  readonly deletes: boolean;
  readonly unchanged: readonly string[];
  readonly changed: readonly string[];
}

function word(field: string): string {
  return field === 'internalNotes' ? 'notes' : field;
}

/** The service said yes, and a read shows the old value or the record that was to be gone. */
export class NotAppliedError extends Failure {
  readonly kind = 'protocol';
  readonly exitName = 'failed';
  readonly code = 'notApplied';
  constructor(id: string, { resource, deletes, unchanged, changed }: NotApplied) {
    super(
      deletes
        ? `The service accepted the deletion of ${id}, and it is still there.`
        : `The service accepted the change of ${id}, and still shows the former ${unchanged.map(word).join(', ') || 'value'}.${changed.map((field) => ` The ${word(field)} was set.`).join('')}`,
      { hint: `See: rosterctl ${resource} get ${shellQuote(id)}` },
    );
  }
}

/** A run of several things that did not end well though no single error ended it. */
export class RunError extends Failure {
  readonly kind = 'run';
  readonly code: string;
  constructor(
    message: string,
    readonly exitName: ExitName,
    options: { hint?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = exitName === 'interrupted' ? 'cancelled' : exitName;
  }
}
