import * as z from 'zod/mini';
import { Id, TryoutStatus } from '../../api/schemas.js';
import { params } from '../../cli/define.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { namedFirst } from '../../data/words.js';
import { UsageError } from '../../errors.js';
import { callOf, readable } from '../kinds.js';

/** Tryout applications, as far as reading them goes (contract 4.4). */
export const applications = readable('tryouts');

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

/** What was told of each command line, and of whom by name. */
const told = new WeakMap<object, Map<string, readonly string[]>>();

function toldOf(values: object): Map<string, readonly string[]> {
  const line = told.get(values) ?? new Map<string, readonly string[]>();
  told.set(values, line);
  return line;
}

/** A note told once per command line, however often its rows are planned; `values` stands for the line. */
export function noteOnce(context: Context, values: object, message: string): void {
  const line = toldOf(values);
  if (line.has(message)) return;
  line.set(message, []);
  context.note(message);
}

/** The same of what may be so of hundreds of rows: the first are named, and then `others` is said once. */
export function noteFew(
  context: Context,
  values: object,
  { id, what, others }: { readonly id: string; readonly what: string; readonly others: string },
): void {
  const line = toldOf(values);
  const ids = line.get(others) ?? [];
  if (ids.includes(id) || ids.length > namedFirst) return;
  line.set(others, [...ids, id]);
  context.note(ids.length < namedFirst ? `${id} ${what}` : others);
}
