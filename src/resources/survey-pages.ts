/** Surveys of paging: tries out which settings bring the rest of a list that may be incomplete. */
import { isDeepStrictEqual } from 'node:util';
import { noPages } from '../api/paging.js';
import type { PagingEvidence } from '../api/paging-evidence.js';
import { hasId } from '../api/records.js';
import type { Api, Completeness } from '../api/types.js';
import type { Overrides, ResourceName } from '../data/resources.js';
import { groupedNumber, plural, wordList } from '../data/text.js';
import { Failure } from '../errors.js';

/** The result of a survey for one subject. */
export interface SurveyFinding {
  readonly subject: 'envelope' | 'id' | 'fields' | 'references' | 'pages';
  readonly result: 'pass' | 'warn' | 'fail';
  readonly text: string;
  /** The settings that settle it; several only if one of them has to be chosen. */
  readonly settings: readonly Setting[];
}

export type Setting = readonly [key: string, value: string];

/** Returns a function that makes the findings on a subject. */
export function findingsOn(subject: SurveyFinding['subject']) {
  return (
    result: SurveyFinding['result'],
    text: string,
    settings: readonly Setting[] = [],
  ): SurveyFinding => ({ subject, result, text, settings });
}

const onPages = findingsOn('pages');

const pageNames = wordList(`
  page pageNumber page_number page[number] pagination[page] pageIndex page_index currentPage p
`);
const offsetNames = wordList('offset skip start $skip startIndex start_index page[offset] from');
const idNames = wordList(`
  after since_id sinceId starting_after startingAfter startAfter after_id afterId last_id lastId
`);
const cursorNames = wordList(`
  cursor after pageToken page_token token next nextToken next_token continuationToken continuation
  marker starting_after startingAfter startAfter page[after] page[cursor]
`);

/** The signs of a next page on the first page of a list. */
type Lead = Pick<PagingEvidence, 'hint' | 'way'>;

/** The findings about the pages of a list. */
interface PagesSurvey {
  readonly finding: SurveyFinding;
  /** The settings with which the list is read whole, in addition to those in force. */
  readonly settings: Overrides;
  /** How many records are read without them, and with them. */
  readonly count: number;
  readonly most: number;
}

function found(result: 'pass' | 'warn', text: string, settings: Overrides = {}) {
  return { settings, finding: onPages(result, text, Object.entries(settings)) };
}

/** The settings to try where a list may be incomplete: none at all, then what leads on. */
function attempts({ hint, way }: Lead): readonly Overrides[] {
  return [
    { 'paging.mode': 'auto', 'paging.next': 'auto' },
    ...renamed(way?.word),
    ...followed(hint),
    ...pageNames.map((name) => ({ 'paging.mode': 'page', 'paging.params.page': name })),
    ...offsetNames.map((name) => ({ 'paging.mode': 'offset', 'paging.params.offset': name })),
    ...idNames.map((name) => ({ 'paging.mode': 'last-id', 'paging.params.after': name })),
  ];
}

/** Other names for the parameter of a cursor that is followed without a setting. */
function renamed(word: string | undefined): readonly Overrides[] {
  if (word === undefined || word === 'page' || word === 'offset') return [];
  const key = `paging.params.${word === 'after' ? word : 'cursor'}`;
  return cursorNames.filter((name) => name !== word).map((name) => ({ [key]: name }));
}

/** The field that may lead on, with the names that its parameter may have. */
function followed(hint: string | undefined): readonly Overrides[] {
  if (hint === undefined) return [];
  const own = hint.split('.').at(-1) ?? '';
  const bare = own
    .replace(/^next[_-]?(?=.)/i, '')
    .replace(/^[A-Z]/, (first) => first.toLowerCase());
  const names = [...new Set([own, bare, ...cursorNames])];
  return names.map((name) => ({ 'paging.next': hint, 'paging.params.cursor': name }));
}

/**
 * Reads a list as it is set. Where it may be incomplete, reads it in all the other ways until one of
 * them finds the rest; `lead` holds the signs of a next page. Sends reads only.
 */
export async function surveyPages(
  api: Api,
  resource: ResourceName,
  overrides: Overrides,
  lead: Lead,
): Promise<PagesSurvey> {
  const { hint } = lead;
  const { completeness, count, haveIds } = await readWhole(api, resource, overrides);
  const counts = { count, most: count };
  if (completeness.state !== 'doubtful')
    return { ...found('pass', `${plural(count, 'record')}, all read`), ...counts };
  // Without ids, a page that the service repeats could not be told from a new one.
  if (!haveIds) {
    const text = `${completeness.reason}; without ids, rosterctl cannot look for more pages`;
    return { ...found('warn', text), ...counts };
  }
  let best = { count, settings: {} as Overrides };
  for (const settings of attempts(lead)) {
    const read = await readWhole(api, resource, { ...overrides, ...settings });
    if (read.count > best.count) best = { count: read.count, settings };
    if (read.count > count && read.completeness.state === 'complete') break;
  }
  if (best.count > count) {
    const text = `only ${groupedNumber(count)} of ${groupedNumber(best.count)} records were read`;
    return { ...found('warn', text, withoutDefaults(best, overrides)), count, most: best.count };
  }
  const text = `${completeness.reason}; the usual ways of paging find no more`;
  if (completeness.isBarred)
    return {
      ...found('warn', `${text}, so the operator of the service has to correct that`),
      ...counts,
    };
  // The service led on, and nothing followed: its parameter may have another name.
  const isLed = hint !== undefined && completeness.isLed;
  if (!isLed && !completeness.isStated) {
    const settings = { [hint === undefined ? 'paging.mode' : 'paging.next']: 'none' };
    const read = await readWhole(api, resource, { ...overrides, ...settings });
    if (read.completeness.state === 'complete')
      return { ...found('warn', text, settings), ...counts };
    // The answers themselves contradict it: the field does lead on, or the pages have another parameter.
    const next = hint === undefined ? { 'paging.params.page': 'NAME' } : { 'paging.next': hint };
    return { ...found('warn', text, next), settings: {}, ...counts };
  }
  // The way out if the number or flag that raised the doubt means something else.
  const mayBeOnePage = completeness.fixes?.includes(noPages);
  const choices = isLed
    ? { 'paging.params.cursor': 'NAME', 'paging.next': 'none' }
    : {
        'paging.params.page': 'NAME',
        'paging.next': 'PATH',
        ...(mayBeOnePage ? { 'paging.mode': 'none' } : { 'paging.total': 'none' }),
      };
  return { ...found('warn', text, choices), settings: {}, ...counts };
}

/** A list whose pages were surveyed. */
export interface SurveyedList {
  readonly resource: ResourceName;
  readonly pages: PagesSurvey;
}

/**
 * Returns the paging settings that no list objects to. They hold for every list, so those of one list
 * are left out where another one would lose records, or count as whole without all of them;
 * `onRefused` hears of it.
 */
export async function agreeOnPages(
  api: Api,
  lists: readonly SurveyedList[],
  overrides: Overrides,
  onRefused: (list: SurveyedList, other: ResourceName) => void,
): Promise<Overrides> {
  let agreed: Overrides = {};
  /** The lists whose own settings are among those agreed on. */
  const settled = new Set<ResourceName>();
  // Those that only settle a doubt come last.
  for (const list of lists.toSorted((a, b) => gainOf(b) - gainOf(a))) {
    const proposed = { ...agreed, ...list.pages.settings };
    const leastOf = (each: SurveyedList) =>
      each === list || settled.has(each.resource) ? each.pages.most : each.pages.count;
    const other = isDeepStrictEqual(proposed, agreed)
      ? undefined
      : await firstShortened(api, lists, { ...overrides, ...proposed }, leastOf);
    if (other === undefined) {
      agreed = proposed;
      settled.add(list.resource);
    } else onRefused(list, other);
  }
  return agreed;
}

function gainOf({ pages: { count, most } }: SurveyedList): number {
  return most - count;
}

/** Returns the first list that has fewer records with these settings, or hides that there are more. */
async function firstShortened(
  api: Api,
  lists: readonly SurveyedList[],
  overrides: Overrides,
  leastOf: (list: SurveyedList) => number,
): Promise<ResourceName | undefined> {
  for (const list of lists) {
    const { count, completeness } = await readWhole(api, list.resource, overrides);
    const isHidden = completeness.state === 'complete' && count < list.pages.most;
    if (isHidden || count < leastOf(list)) return list.resource;
  }
  return undefined;
}

async function readWhole(api: Api, resource: ResourceName, overrides: Overrides) {
  let count = 0;
  let haveIds = true;
  try {
    const list = api.list(resource, {}, { overrides, isQuiet: true });
    for await (const batch of list.batches()) {
      count += batch.length;
      haveIds &&= batch.every((record) => hasId(record));
    }
    const completeness: Completeness = list.completeness();
    return { count, haveIds, completeness };
  } catch (error) {
    // A parameter that the service does not know may be refused.
    if (!(error instanceof Failure)) throw error;
    return {
      count: 0,
      haveIds,
      completeness: { state: 'doubtful', reason: error.message, isLed: true } as const,
    };
  }
}

/** The settings without those that are in force anyway. */
function withoutDefaults({ settings }: { readonly settings: Overrides }, inForce: Overrides) {
  const entries = Object.entries(settings);
  return Object.fromEntries(
    entries.filter(([key, value]) => {
      const isDefault = value === 'auto' || key === `paging.params.${value}`;
      return !isDefault || inForce[key] !== undefined;
    }),
  );
}
