/** All errors of an input at once, instead of the first only. */

import { InputError } from '../errors.js';
import { groupedNumber, plural } from './text.js';

/** Errors beyond this number are only counted. */
const maxListed = 20;

/** Collects the errors of an input; the message of each says which line it is about. */
export class InputErrors {
  private readonly listed: InputError[] = [];
  private count = 0;

  /** `what`: what the count and the rest are called; a line may have several problems. */
  constructor(private readonly what: 'line' | 'problem' = 'line') {}

  add(error: InputError): void {
    this.count += 1;
    if (this.listed.length < maxListed) this.listed.push(error);
  }

  /** Runs `work` and keeps an InputError that it throws; rethrows any other error. */
  collect(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.add(error);
    }
  }

  /**
   * Throws one InputError for all added errors: a single one unchanged, otherwise one whose message
   * lists the first 20, each on its own line, and counts the rest.
   */
  throwIfAny(): void {
    const [only] = this.listed;
    if (!only) return;
    if (this.count === 1) throw only;
    const reasons = this.listed.map(({ message }) => message.replace(/\s*[\r\n]\s*/g, ' '));
    const more = this.count - this.listed.length;
    const hints = new Set(this.listed.flatMap(({ hint }) => hint ?? []));
    throw new InputError(
      [
        this.what === 'line'
          ? `${groupedNumber(this.count)} lines cannot be used.`
          : `${groupedNumber(this.count)} problems:`,
        ...reasons,
        ...(more > 0 ? [`And ${plural(more, `more ${this.what}`)}.`] : []),
      ].join('\n'),
      { hint: hints.size > 0 ? [...hints].slice(0, 3).join('\n') : undefined, cause: only },
    );
  }
}
