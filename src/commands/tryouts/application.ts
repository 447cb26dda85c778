import * as z from 'zod/mini';
import { Id, TryoutStatus } from '../../api/schemas.js';
import { params } from '../../cli/define.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { UsageError } from '../../errors.js';
import { callOf, type Readable } from '../kinds.js';

/** Tryout applications, as far as reading them goes (contract 4.4). */
export const applications: Readable = {
  resource: 'tryouts',
  noun: 'application',
  idName: 'applicationId',
  get: 'getTryout',
};

/** Reads one application as it stands now. */
export function readApplication(context: Context, id: string): Promise<JsonObject> {
  return context.api.record(callOf(applications, 'getTryout', id));
}

const words = { placeholder: 'ID', completes: 'id:tryouts' } as const;

/** The ids of a command that needs at least one. */
export const someIds = params(z.array(Id).check(z.minLength(1)), 'ids of applications', words);

/** The ids of a command that says itself what to do without any. */
export const anyIds = params(z._default(z.array(Id), []), 'ids of applications', words);

/** Ids beside a flag that takes a status: a status among them was meant for the flag. */
export function idsBeside(statusFlag: '--status' | '--to') {
  const id = Id.check(({ value, issues }) => {
    if (!TryoutStatus.safeParse(value).success) return;
    const message = `that is a status, not an id (did you mean ${statusFlag} ${value}?)`;
    issues.push({ code: 'custom', message, input: value });
  });
  return {
    some: params(z.array(id).check(z.minLength(1)), 'ids of applications', words),
    any: params(z._default(z.array(id), []), 'ids of applications', words),
  };
}

/** Throws UsageError for the organization's own id, which no application has. */
export function refuseOrganization(context: Context, ids: readonly string[]): void {
  const { organizationId } = context.api;
  if (!ids.includes(organizationId)) return;
  throw new UsageError(
    `${organizationId} is the organization's id, not the id of an application.`,
    {
      hint: 'See: rosterctl tryouts list',
    },
  );
}

const told = new WeakMap<object, Set<string>>();

/** A note told once per command line, however often its rows are planned; `values` stands for the line. */
export function noteOnce(context: Context, values: object, message: string): void {
  const before = told.get(values) ?? new Set();
  told.set(values, before);
  if (before.has(message)) return;
  before.add(message);
  context.note(message);
}

const few = 5;
const counted = new WeakMap<object, Map<string, Set<string>>>();

/** The same of what may be so of hundreds of rows: the first are named, and then `others` is said once. */
export function noteFew(
  context: Context,
  values: object,
  { id, what, others }: { readonly id: string; readonly what: string; readonly others: string },
): void {
  const ids = counted.get(values) ?? new Map<string, Set<string>>();
  counted.set(values, ids);
  const named = ids.get(others) ?? new Set();
  ids.set(others, named);
  if (named.has(id)) return;
  if (named.size >= few) return noteOnce(context, values, others);
  named.add(id);
  noteOnce(context, values, `${id} ${what}`);
}
