/** The cards of a review: the applications that filters select and those of the queue, from one list. */
import { hasId } from '../api/records.js';
import type { ListValues } from '../cli/filters.js';
import { filterList } from '../cli/lists/filter-list.js';
import type { Context } from '../context.js';
import { collect } from '../data/batches.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/path.js';
import { OrderedRecords, orderByField, usualSorting } from '../data/sorting.js';
import { applicationParts, isSamePerson } from '../resources/cards/application.js';
import { type CardLines, cardOf } from '../resources/cards/card.js';
import type { CardStyle } from '../resources/cards/fields.js';
import { type PastChanges, pastChanges } from '../resources/cards/history.js';
import type { Nearby } from '../resources/cards/nearby.js';
import { tryoutSummary } from '../resources/list-summary.js';
import {
  type TryoutFilterValues,
  tryoutSelection,
  tryoutTests,
} from '../resources/tryout-filters.js';
import type { Piece } from '../terminal/layout.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrap } from '../terminal/width.js';
import type { Queued } from './queue.js';
import type { Card } from './state.js';

/** The filters of a review. */
export type ReviewFilters = TryoutFilterValues & ListValues;

/** The applications to review. */
export interface Cards {
  readonly cards: readonly Card[];
  /** Which applications these are, in which order: `pending Valorant, oldest first`. */
  readonly title: string;
  /** Sentences that say why no application matches. */
  readonly none: string;
  /** Queued applications that the complete list no longer holds. */
  readonly gone: readonly (readonly [id: string, queued: Queued])[];
  /** Every application of the list, or why it says nothing about other applications of a person. */
  readonly everyone: Nearby;
  /** The changes that this machine made to them. */
  readonly changes: PastChanges;
}

/**
 * Lists the applications and returns those that the filters select, oldest first or as `--sort` says,
 * with every application of the queue among them; `values` undefined: the queue's alone.
 */
export async function loadCards(
  context: Context,
  values: ReviewFilters | undefined,
  queued: ReadonlyMap<string, Queued>,
): Promise<Cards> {
  // Not the filter of the service: the queue and other applications of a person need the whole list.
  const list = context.api.list('tryouts');
  const everyone: JsonObject[] = [];
  const summary = tryoutSummary(values ?? {});
  const observed = (async function* () {
    for await (const record of list) {
      if (hasId(record)) everyone.push(record);
      yield record;
    }
  })();
  const filtered = values
    ? filterList(observed, values, {
        resource: 'tryouts',
        tests: tryoutTests(values, context),
        notes: context,
        summary,
      })
    : observed;
  const matching = (await collect(filtered)).filter((record) => hasId(record));
  const selected = new Set(values ? matching.map(({ id }) => String(id)) : []);
  const isShown = ({ id }: JsonObject) => selected.has(String(id)) || queued.has(String(id));
  const shown = everyone.filter(isShown);
  const isComplete = list.completeness().state === 'complete';
  const ids = new Set(everyone.map(({ id }) => String(id)));
  const shownIds = shown.map(({ id }) => String(id));
  return {
    cards: inReviewOrder(shown, values).map((record) => ({
      id: String(record['id']),
      name: singleLine(labelOf(record, String(record['id']))),
      record,
    })),
    title: titleOf(values, shown.length - selected.size),
    none: summary.none().text,
    gone: isComplete ? [...queued].filter(([id]) => !ids.has(id)) : [],
    everyone: isComplete ? { records: everyone } : { reason: 'the list may be incomplete' },
    changes: await pastChanges(context, 'tryouts', shownIds),
  };
}

function inReviewOrder(records: readonly JsonObject[], values: ReviewFilters | undefined) {
  const { field } = usualSorting('tryouts');
  const order = new OrderedRecords(orderByField(values?.sort ?? { field, descending: false }));
  for (const record of records) order.add(record);
  return order.first();
}

/** `carried`: how many of the queue the filters do not select. */
function titleOf(values: ReviewFilters | undefined, carried: number): string {
  if (!values) return 'decided, not sent';
  const words = tryoutSelection.words?.(values);
  const selected = words ? `${words.before}${words.after}`.trim() : 'matching';
  const what = carried > 0 ? `${selected} and ${carried} decided earlier` : selected;
  return values.sort ? `${what}, by ${values.sort.field}` : `${what}, oldest first`;
}

/** Draws the card of an application with what is decided about it. */
export function reviewCard(
  context: Parameters<typeof cardOf>[0],
  { id, record }: Card,
  queued: Queued | undefined,
  { everyone, changes }: Pick<Cards, 'everyone' | 'changes'>,
): CardLines {
  const nearby =
    'reason' in everyone
      ? everyone
      : { records: everyone.records.filter((other) => isSamePerson(other, record)) };
  return cardOf(context, record, changes.get(id) ?? [], (style) => {
    const parts = applicationParts(record, style, nearby);
    if (!queued) return parts;
    const { note } = queued.decision;
    const [now, ...others] = parts.state;
    return {
      ...parts,
      state: [stateThen(now?.text ?? '', queued.decision.status, style), ...others],
      sections: [
        ...changedSince(record, queued),
        ...(note ? [sectionOf('To add', singleLine(note.text))] : []),
        ...parts.sections,
      ],
    };
  });
}

/** `pending → shortlisted`: the present status and the one that was decided. */
function stateThen(now: string, status: string | undefined, { paint, isUtf8 }: CardStyle): Piece {
  if (status === undefined) return { text: now, paint: paint.status };
  const arrow = isUtf8 ? ' → ' : ' > ';
  const text = `${now}${arrow}${status}`;
  const painted = paint.status(now) + arrow + paint.status(status);
  // Where it is wrapped, its parts are not painted.
  return { text, paint: (part) => (part === text ? painted : part) };
}

/** Describes another person's change since the decision, which will therefore be a conflict. */
function changedSince({ status }: JsonObject, { seen, decision }: Queued) {
  const isAsSeen = (status ?? null) === seen || status === decision.status;
  if (decision.status === undefined || isAsSeen) return [];
  const text = `You decided when it was ${String(seen)}. Decide again, or it stays as it is.`;
  return [sectionOf('Changed', singleLine(text))];
}

function sectionOf(label: string, text: string) {
  return { label, lines: (room: number) => wrap(text, room) };
}
