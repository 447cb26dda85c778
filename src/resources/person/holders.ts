/** Who else holds an e-mail address or a Discord user: the service may refuse such a write with 409 (contract 4.1 rule 3). */

import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { labelOf, namedTest, plainText } from '../../data/path.js';
import { kindWords, quotedId, referenceField, referenceKindsOf } from '../../data/references.js';
import {
  type LookedUpKind,
  type Overrides,
  perResource,
  type ResourceName,
  resourceNames,
  resourceWords,
} from '../../data/resources.js';
import { addTo } from '../../data/sorting.js';
import { foldCase, nameFirstFew, plural, upperFirst } from '../../data/text.js';
import { isEmptyValue } from '../../data/where.js';
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

/** The applications about to be written, and who else holds what must be theirs alone. */
interface Holders {
  /** Remembers a record of the list of applications, which `note` does not read again. */
  observe(record: JsonObject): void;
  /** Remembers an application that is about to be written. */
  watch(record: JsonObject): void;
  /** Notes on stderr who else holds the same, for the first few records. Reads each other list once. */
  note(): Promise<void>;
  /** Returns a 409 with the other record in its hint; any other error as it is. */
  explain(error: unknown, id: string): Promise<unknown>;
}

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
  const fields = perResource((resource) =>
    heldKinds
      .filter((kind) => referenceKindsOf(resource).includes(kind))
      .map((kind) => ({ kind, field: referenceField(resource, kind, overrides) })),
  );
  return (resource, record) => {
    const found: Identity[] = [];
    for (const { kind, field } of fields[resource])
      for (const value of field.values(record) ?? [])
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

/**
 * Looks for other holders among the records of these resources. A list that is forbidden, slow or
 * doubtful says nothing.
 */
export function createHolders(context: Context, within: readonly ResourceName[]): Holders {
  const identitiesOf = identityReader(context.settings.overrides);
  const formOf = formReader();
  const watched = new Set<string>();
  const byIdentity = new Map<string, ComparedHolder[]>();
  const found = new Map<string, { readonly own: Holder; readonly other: Holder }>();
  let observedCount = 0;
  let searching: Promise<void> | undefined;
  const remember = (
    resource: ResourceName,
    record: JsonObject,
    isKept: (key: string) => boolean = () => true,
  ) => {
    for (const { kind, key } of identitiesOf(resource, record)) {
      if (!isKept(key)) continue;
      const { id, name, status, convertedPlayerId } = record;
      const brief = { id, name, status, convertedPlayerId };
      addTo(byIdentity, key, { resource, record: brief, kind, form: formOf(record) });
    }
  };
  const search = async () => {
    const { recordsNearby } = await import('../cards/nearby.js');
    for (const resource of within) {
      if (resource === written && observedCount > 0) continue;
      // oxlint-disable-next-line no-await-in-loop
      await recordsNearby(context, resource, (record) => {
        remember(resource, record, (key) => byIdentity.has(key));
        return false;
      });
    }
    for (const same of byIdentity.values())
      for (const own of same.length > 1 ? same : []) {
        const id = String(own.record['id']);
        const other = watched.has(id) && same.findLast((each) => isOther(own, each));
        if (other) found.set(id, { own, other });
      }
  };
  const searchOnce = () => (watched.size === 0 ? undefined : (searching ??= search()));
  return {
    observe(record) {
      observedCount += 1;
      if (observedCount <= mostCompared) remember(written, record);
    },
    watch(record) {
      if (watched.size >= mostCompared) return;
      watched.add(String(record['id']));
      if (observedCount === 0) remember(written, record);
    },
    async note() {
      await searchOnce();
      for (const id of [...watched].filter((each) => found.has(each)).slice(0, nameFirstFew)) {
        const { own, other } = found.get(id) ?? {};
        if (own && other)
          context.note(
            `${id} (${labelOf(own.record, id)}) and ${sameIdentity(other)}; the service may refuse it.`,
          );
      }
      if (found.size > nameFirstFew)
        context.note(`The same holds for ${plural(found.size - nameFirstFew, 'more record')}.`);
    },
    async explain(error, id) {
      if (!(error instanceof ApiError) || error.status !== 409) return error;
      await searchOnce();
      const other = found.get(id)?.other;
      if (!other) return error;
      const { resource, record, kind } = other;
      const hint = `${upperFirst(whoHolds(other))} has the same ${kindWords[kind]}.\nSee: rosterctl ${resource} get ${quotedId(String(record['id']))}`;
      return new ApiError(error.status, error.serviceCode, error.call, { ...error.details, hint });
    },
  };
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
