/** Who else holds an e-mail address or a Discord user: the service may refuse such a write with 409 (contract 4.1 rule 3). */
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { labelOf } from '../../data/path.js';
import {
  kindWords,
  type LookedUpKind,
  referenceField,
  referenceKindsOf,
} from '../../data/references.js';
import {
  type Overrides,
  type ResourceName,
  resourceNames,
  resourceWords,
} from '../../data/resources.js';
import { foldCase, nameFirstFew, plural } from '../../data/text.js';
import { ApiError } from '../../errors.js';
import { recordsNearby } from '../cards/nearby.js';
import { formReader } from '../tryout-filters.js';

/** The resources whose records are about people: those with an e-mail address. */
export const aboutPeople = resourceNames.filter((name) => referenceKindsOf(name).includes('email'));

/** Another record with the same e-mail address or Discord user. */
export interface Holder {
  readonly resource: ResourceName;
  readonly record: JsonObject;
  readonly kind: LookedUpKind;
}

/** The parts to compare of a record that is about to be written. */
interface Watched {
  readonly id: string;
  readonly form: string | undefined;
  readonly playerId: unknown;
}

/** Beyond this many, a run is too long to be read about before it starts. */
const mostWatched = 10_000;

/** The records about to be written, and who else holds what must be theirs alone. */
export interface Holders {
  /** Remembers a record that is about to be written, by default an application. */
  watch(record: JsonObject, resource?: ResourceName): void;
  /** Notes on stderr who else holds the same, for the first few records. Reads each list once. */
  note(): Promise<void>;
  /** Returns a 409 with the other record in its hint; any other error as it is. */
  explain(error: unknown, id: string): Promise<unknown>;
}

const heldKinds = ['email', 'discord'] as const;

/** Returns the e-mail addresses and the Discord user of a record, as keys that are equal for the same one. */
export function identitiesOf(
  resource: ResourceName,
  record: JsonObject,
  overrides: Overrides,
): readonly { readonly kind: LookedUpKind; readonly key: string }[] {
  const kinds = heldKinds.filter((kind) => referenceKindsOf(resource).includes(kind));
  return kinds.flatMap((kind) =>
    (referenceField(resource, kind, overrides).values(record) ?? [])
      .filter((value) => value.trim() !== '')
      .map((value) => ({ kind, key: `${kind}:${foldCase(value)}` })),
  );
}

/**
 * Looks for other holders among the records of these resources. A list that is forbidden, slow or
 * doubtful says nothing.
 */
export function createHolders(context: Context, resources: readonly ResourceName[]): Holders {
  const { overrides } = context.settings;
  const watched = new Map<string, Watched[]>();
  const names = new Map<string, string>();
  const found = new Map<string, Holder>();
  const formOf = formReader();
  let searching: Promise<void> | undefined;
  const search = async () => {
    // oxlint-disable-next-line no-await-in-loop
    for (const resource of resources)
      await recordsNearby(context, resource, (record) => {
        for (const { kind, key } of identitiesOf(resource, record, overrides))
          for (const own of watched.get(key) ?? [])
            if (isOther(own, record, formOf(record))) found.set(own.id, { resource, record, kind });
        return false;
      });
  };
  const searchOnce = () => (watched.size === 0 ? undefined : (searching ??= search()));
  return {
    watch(record, resource = 'tryouts') {
      const id = String(record['id']);
      if (names.has(id) || names.size >= mostWatched) return;
      names.set(id, labelOf(record, id));
      const own = { id, form: formOf(record), playerId: record['convertedPlayerId'] };
      for (const { key } of identitiesOf(resource, record, overrides))
        watched.set(key, [...(watched.get(key) ?? []), own]);
    },
    async note() {
      await searchOnce();
      const all = [...found];
      for (const [id, holder] of all.slice(0, nameFirstFew))
        context.note(
          `${id} (${names.get(id)}) and ${sameIdentity(holder)}; the service may refuse it.`,
        );
      if (all.length > nameFirstFew)
        context.note(`The same holds for ${plural(all.length - nameFirstFew, 'more record')}.`);
    },
    async explain(error, id) {
      if (!(error instanceof ApiError) || error.status !== 409) return error;
      await searchOnce();
      const holder = found.get(id);
      if (!holder) return error;
      const { resource, record } = holder;
      const hint = `It and ${sameIdentity(holder)}.\nSee: rosterctl ${resource} get ${String(record['id'])}`;
      return new ApiError(error.status, error.serviceCode, error.call, { ...error.details, hint });
    },
  };
}

/** Completes a sentence that names the other record: `the player player_0002 (Nilo Tsukiyo) have the same e-mail`. */
export function sameIdentity({ resource, record, kind }: Holder): string {
  const id = String(record['id']);
  const about = [labelOf(record, ''), record['status']].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  const { noun } = resourceWords[resource];
  const who = `the ${noun} ${id}${about.length > 0 ? ` (${about.join(', ')})` : ''}`;
  return `${who} have the same ${kindWords[kind]}`;
}

/** True if both may not hold the same; applications of two forms may. */
function isOther(
  { id, form, playerId }: Watched,
  other: JsonObject,
  otherForm: string | undefined,
): boolean {
  if (id === other['id'] || playerId === other['id']) return false;
  return form === undefined || otherForm === undefined || form === otherForm;
}
