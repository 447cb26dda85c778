/** Who else holds an e-mail address or a Discord user: the service may refuse such a write with 409 (contract 4.1 rule 3). */

import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { labelOf, namedTest, nameWithId, plainText } from '../../data/path.js';
import { kindWords, quotedId, referenceValues } from '../../data/references.js';
import {
  type LookedUpKind,
  type Overrides,
  perResource,
  type ResourceName,
  referenceKindsOf,
  resourceNames,
  resourceWords,
} from '../../data/resources.js';
import { addTo } from '../../data/sorting.js';
import { foldCase, nameFirstFew, plural, upperFirst, upTo } from '../../data/text.js';
import { isEmptyValue } from '../../data/where.js';
import type { Session } from '../../engine/operation.js';
import { ApiError } from '../../errors.js';

/** The resources whose records are about people: those with an e-mail address. */
export const aboutPeople = resourceNames.filter((name) => referenceKindsOf(name).includes('email'));

/** A record with an e-mail address or a Discord user; of its fields, what a sentence about it needs. */
interface Holder {
  readonly resource: ResourceName;
  readonly record: JsonObject;
  readonly kind: LookedUpKind;
}

/** A holder, with what decides whether two records may hold the same. */
interface ComparedHolder extends Holder {
  readonly form: string | undefined;
}

/** Beyond this many rows, a run is too long to be read about; beyond this many records, a list is too long to keep. */
const mostCompared = 10_000;

/** The resource whose records are written. */
const written: ResourceName = 'tryouts';

const heldKinds = ['email', 'discord'] as const;

/** An e-mail address or a Discord user of a record, as a key that is equal for the same one. */
interface Identity {
  readonly kind: LookedUpKind;
  readonly key: string;
}

/** Returns how to read the identities of records. */
export function identityReader(
  overrides: Overrides,
): (resource: ResourceName, record: JsonObject) => readonly Identity[] {
  const readers = perResource((resource) =>
    heldKinds
      .filter((kind) => referenceKindsOf(resource).includes(kind))
      .map((kind) => ({ kind, valuesOf: referenceValues(resource, kind, overrides) })),
  );
  return (resource, record) => {
    const found: Identity[] = [];
    for (const { kind, valuesOf } of readers[resource])
      for (const value of valuesOf(record) ?? [])
        if (value.trim() !== '') found.push({ kind, key: `${kind}:${foldCase(value)}` });
    return found;
  };
}

/**
 * Returns how to read the form of an application, a field that the contract does not name (2.1);
 * undefined for one that shows none.
 */
export function formReader(): (record: JsonObject) => string | undefined {
  const isForm = namedTest(['formid', 'tryoutformid']);
  return (record) => {
    for (const key in record)
      if (isForm(key) && !isEmptyValue(record[key])) return plainText(record[key]);
    return undefined;
  };
}

interface SharedIdentity {
  readonly own: Holder;
  readonly other: Holder;
}

/**
 * The applications about to be written, and who else holds what must be theirs alone, among the records of
 * these resources. A list that is forbidden, slow or doubtful says nothing.
 */
export class Holders {
  private readonly identitiesOf;
  private readonly formOf = formReader();
  /** By id, in the order of the rows; a value once another holder is found. */
  private readonly watched = new Map<string, SharedIdentity | undefined>();
  private readonly byIdentity = new Map<string, ComparedHolder[]>();
  private observedCount = 0;
  private searching: Promise<void> | undefined;

  constructor(
    private readonly context: Context,
    private readonly within: readonly ResourceName[],
  ) {
    this.identitiesOf = identityReader(context.settings.overrides);
  }

  /** Remembers an application that is about to be written. */
  watch(record: JsonObject): void {
    const id = String(record['id']);
    if (this.watched.size >= mostCompared || this.watched.has(id)) return;
    this.watched.set(id, undefined);
    if (this.observedCount === 0) this.remember(written, record);
  }

  /** The session of these writes: warns of other holders before the first one, and names one in a 409. */
  beside<S extends Pick<Session, 'send'>>(session: S) {
    return {
      ...session,
      sees: (record) => this.observe(record),
      warn: (rows) => this.note(rows),
      send: (step, row, isFresh) =>
        session.send(step, row, isFresh).catch(async (error: unknown) => {
          throw await this.explain(error, row.id);
        }),
    } satisfies Partial<Session>;
  }

  /** Remembers a record of the list of applications, which `note` does not read again. */
  private observe(record: JsonObject): void {
    this.observedCount += 1;
    if (this.observedCount <= mostCompared) this.remember(written, record);
  }

  /** Notes on stderr who else holds the same, for the first few of these rows. Reads each other list once. */
  private async note(rows: readonly { readonly id: string }[]): Promise<void> {
    await this.search();
    const found = rows.flatMap(({ id }) => {
      const shared = this.watched.get(id);
      return shared ? { id, ...shared } : [];
    });
    const lines = found.map(
      ({ id, own, other }) =>
        `${nameWithId(own.record['name'], id)} and ${sameIdentity(other)}, so the service may refuse the change.`,
    );
    const shown = upTo(
      nameFirstFew,
      lines,
      (more) => `The same applies to ${plural(more, 'more record')}.`,
    );
    for (const line of shown) this.context.note(line);
  }

  /** Returns a 409 with the other record in its hint; any other error as it is. */
  private async explain(error: unknown, id: string): Promise<unknown> {
    if (!(error instanceof ApiError) || error.status !== 409) return error;
    await this.search();
    const other = this.watched.get(id)?.other;
    if (!other) return error;
    const { resource, record, kind } = other;
    const hint = `${upperFirst(whoHolds(other))} has the same ${kindWords[kind]}.\nSee: rosterctl ${resource} get ${quotedId(String(record['id']))}`;
    return error.with({ hint });
  }

  private async search(): Promise<void> {
    if (this.watched.size > 0) await (this.searching ??= this.searchLists());
  }

  private async searchLists(): Promise<void> {
    const { recordsNearby } = await import('../cards/nearby.js');
    const isWatched = (key: string) => this.byIdentity.has(key);
    for (const resource of this.within) {
      if (resource === written && this.observedCount > 0) continue;
      await recordsNearby(this.context, resource, (record) => {
        this.remember(resource, record, isWatched);
        return false;
      });
    }
    for (const same of this.byIdentity.values())
      for (const own of same.length > 1 ? same : []) {
        const id = String(own.record['id']);
        const other = this.watched.has(id) && same.findLast((each) => isOther(own, each));
        if (other) this.watched.set(id, { own, other });
      }
  }

  private remember(
    resource: ResourceName,
    record: JsonObject,
    isKept: (key: string) => boolean = () => true,
  ): void {
    const { id, name, status, convertedPlayerId } = record;
    const brief = { id, name, status, convertedPlayerId };
    for (const { kind, key } of this.identitiesOf(resource, record))
      if (isKept(key))
        addTo(this.byIdentity, key, { resource, record: brief, kind, form: this.formOf(record) });
  }
}

/** Completes a sentence that names the other record: `the player player_0002 (Nilo Tsukiyo) have the same e-mail`. */
export function sameIdentity(holder: Holder): string {
  return `${whoHolds(holder)} have the same ${kindWords[holder.kind]}`;
}

function whoHolds({ resource, record }: Omit<Holder, 'kind'>): string {
  const id = String(record['id']);
  const about = [labelOf(record, ''), record['status']].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  const { noun } = resourceWords[resource];
  return `the ${noun} ${id}${about.length > 0 ? ` (${about.join(', ')})` : ''}`;
}

/** True if both may not hold the same; applications of two forms may, and an application and its player. */
function isOther(own: ComparedHolder, other: ComparedHolder): boolean {
  const { id, convertedPlayerId } = own.record;
  if (other.record['id'] === id || other.record['id'] === convertedPlayerId) return false;
  return own.form === undefined || other.form === undefined || own.form === other.form;
}
