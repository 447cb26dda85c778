/** Paging: finds the next page of a list, or decides whether the list is complete. */
import type { Overrides, ResourceName } from '../data/resources.js';
import { groupedNumber, shellQuote } from '../data/text.js';
import { shapesHint } from '../errors.js';
import {
  countIn,
  fieldOrHeader,
  type PagingEvidence,
  readEvidence,
  readNext,
  type Total,
} from './paging-evidence.js';
import { askedSizes, type NextTarget, namesNumber, parameterFor } from './paging-parameters.js';
import type { Completeness, Doubt } from './types.js';
import type { ResponseHead } from './wire.js';

/** One page of a list. */
export interface Page extends ResponseHead {
  readonly body: unknown;
  readonly count: number;
  /** Records on this page that no earlier page had. */
  readonly fresh: number;
  /** Distinct records so far, including this page. */
  readonly arrived: number;
  readonly lastId: string | undefined;
}

/** The place of the next page, or the reason why there is none. */
type NextPage =
  | {
      readonly next: NextTarget;
      /** The page may repeat this one: the service may count its pages from 0 or from 1. */
      readonly mayRepeat?: boolean;
    }
  | { readonly end: Completeness };

/** Accepted, Partial Content, Multi-Status: such a response may hold only part of a list. */
const partStatuses = new Set([202, 206, 207]);

/** Counts at which services often truncate a list silently. */
const suspiciousCounts = new Set([10, 20, 25, 30, 50, 100, 200, 250, 500, 1000]);

/**
 * Decides page by page how a list continues. Follows, in this order, a next link, a cursor, and an
 * offset or page number; an explicit end ends the list, unless a larger total contradicts it; any other
 * evidence of more makes the list doubtful. The settings `paging.*` replace mode, names and places.
 */
export class Paging {
  private readonly mode: string;
  /** The number of the page that was read, 1 for the first; one that only repeats records is not counted. */
  private number = 0;
  /** Rows on all pages so far, including repeated ones. */
  private rows = 0;
  /** Announcements of an earlier page, which a later one may leave out. */
  private announced: Pick<PagingEvidence, 'total' | 'pages'> = {};
  /** How what a later page announced differs from what an earlier one did. */
  private became: 'shorter' | 'longer' | undefined;
  /** True if this page was found by its number or offset, so that records can move onto it and off it. */
  private isNumbered = false;
  /** A sign that some records were passed over, unless all are there. */
  private gap: Doubt | undefined;
  /** The number by which this page was asked for, if it was worked out from that of the page before. */
  private asked: number | undefined;
  /** 0 or 1, as the first answer numbers its page. */
  private firstNumber: number | undefined;

  constructor(
    private readonly resource: ResourceName,
    private readonly overrides: Overrides,
    /** The query of the first request. */
    private readonly query: URLSearchParams,
  ) {
    this.mode = overrides['paging.mode'] ?? 'auto';
    this.firstNumber = countIn(overrides['paging.first']);
  }

  /** Returns where the page after this one is, or whether the list is complete without one. */
  after(page: Page): NextPage {
    // A service that counts its pages from 1 sends the first again if page 1 is asked for.
    const isRepeated = page.count > 0 && page.fresh === 0;
    if (!isRepeated) this.number += 1;
    if (this.asked === 1) this.firstNumber ??= isRepeated ? 1 : 0;
    const evidence = this.evidenceIn(page);
    this.remember(page, evidence);
    const step = this.mode === 'auto' ? this.follow(page, evidence) : this.forced(page, evidence);
    this.isNumbered =
      step !== undefined && 'next' in step && namesNumber(step.next, this.overrides);
    return step ?? { end: this.completeness(page, evidence) };
  }

  private evidenceIn(page: Page): PagingEvidence {
    const evidence = readEvidence(page.body, page.headers, {
      resource: this.resource,
      listPath: this.overrides[`lists.${this.resource}.path`],
    });
    const withNext = this.configuredNext(page, evidence);
    if (this.number === 1) this.firstNumber ??= evidence.pageNumber;
    return { ...withNext, total: this.totalIn(page, withNext) };
  }

  private remember(page: Page, evidence: PagingEvidence): void {
    const { announced } = this;
    const { total, lastPage, pages = lastPage, pageNumber = this.asked } = evidence;
    this.rows += page.count;
    if (this.asked !== undefined && this.asked !== pageNumber)
      this.gap = doubt('the service numbered a page otherwise than it was asked for', shapesHint);
    this.asked = undefined;
    // A record that moved to the front may have left a page that had not been read yet.
    if (this.isNumbered && page.fresh > 0 && page.fresh < page.count)
      this.gap ??= doubt('records moved while the list was being read', again);
    const [before, now] = [namedValue(announced.total), namedValue(total)];
    if (isLess(now, before) || isLess(pages, announced.pages)) this.became = 'shorter';
    else if (isLess(before, now)) this.became ??= 'longer';
    this.announced = { total: total ?? announced.total, pages: pages ?? announced.pages };
  }

  /** With `paging.next` set, only that field leads to the next page; `none`: no field does. */
  private configuredNext(page: Page, evidence: PagingEvidence): PagingEvidence {
    const path = this.overrides['paging.next'];
    if (path === undefined || path === 'auto') return evidence;
    if (path === 'none') return { ...evidence, url: undefined, way: undefined, hint: undefined };
    const { total, pageNumber, size } = evidence;
    const rest = { total, pageNumber, size };
    const value = fieldOrHeader(path, page);
    // The setting may be meant for another list: this one names its next page in a field of its own.
    if (value === undefined && this.number === 1 && (evidence.url ?? evidence.way) !== undefined)
      return { ...rest, ended: false, passedOver: path };
    const next = readNext(path.split('.').at(-1) ?? path, value);
    return { ...next, ...rest, ended: next.url === undefined && next.way === undefined };
  }

  /** With `paging.total` set, only that field counts; `none`: no field does. */
  private totalIn(page: Page, evidence: PagingEvidence): Total | undefined {
    const path = this.overrides['paging.total'];
    if (path === undefined || path === 'auto') return evidence.total;
    const value = path === 'none' ? undefined : countIn(fieldOrHeader(path, page));
    return value === undefined ? undefined : { path, value, isNamed: true };
  }

  private follow(page: Page, evidence: PagingEvidence): NextPage | undefined {
    if (evidence.url !== undefined) return { next: { url: evidence.url } };
    if (this.isExplicitEnd(page, evidence)) return undefined;
    const { way } = evidence;
    return way ? this.to(way.word, way.value) : this.byPosition(page, evidence);
  }

  private byPosition(page: Page, evidence: PagingEvidence): NextPage | undefined {
    const { offset, pageNumber, size, more } = evidence;
    // A count that is not larger than what came may be that of this page.
    const { isNamed, value = 0 } = evidence.total ?? {};
    const total = isNamed || value > page.arrived ? value : undefined;
    const counted =
      total !== undefined && size !== undefined && size > 0 ? Math.ceil(total / size) : undefined;
    if (page.arrived === 0) return undefined;
    const last = this.lastNumber(evidence) ?? this.lastNumber({ pages: counted });
    // Also after an empty page: a service may filter what it has read.
    if (pageNumber !== undefined && (last !== undefined || more))
      return last === undefined || pageNumber < last ? this.toPage(pageNumber + 1) : undefined;
    if (offset === undefined || page.count === 0) return undefined;
    const next = offset + page.count;
    return (total === undefined ? more : next < total) ? this.to('offset', next) : undefined;
  }

  /** Follows `paging.mode` in place of what the answer offers. */
  private forced(page: Page, evidence: PagingEvidence): NextPage | undefined {
    const { url, way, pageNumber } = evidence;
    const { mode, number, firstNumber } = this;
    if (mode === 'none') {
      const mayFollow = this.overrides['paging.next'] !== 'none';
      return mayFollow && this.follow(page, evidence) ? unfollowed('paging.mode', mode) : undefined;
    }
    if (mode === 'cursor') {
      if (way && !this.isExplicitEnd(page, evidence)) return this.to(way.word, way.value);
      return url === undefined ? undefined : unfollowed('paging.mode', mode);
    }
    if (page.count === 0 || this.isExplicitEnd(page, evidence)) return undefined;
    if (mode === 'last-id') {
      if (page.lastId === undefined)
        return { end: doubt('the last record has no id, which paging.mode last-id needs') };
      // Some services begin a page with the given id itself: the last one then holds nothing else.
      if (page.fresh === 0 && page.count === 1) return undefined;
      return this.to('after', page.lastId);
    }
    if (mode === 'offset') return this.to('offset', this.rows);
    // Without any number from the service, page 1 is either the first page again or the second.
    const next = pageNumber === undefined ? (firstNumber ?? 0) + number : pageNumber + 1;
    const step = this.toPage(next);
    return firstNumber === undefined && number === 1 ? { ...step, mayRepeat: true } : step;
  }

  /** True if the answer itself says that the list ends here. */
  private isExplicitEnd({ arrived }: Page, evidence: PagingEvidence): boolean {
    const { more, ended, total, pageNumber = this.number - this.fromZero } = evidence;
    if (more !== undefined) return !more;
    if (ended || namedValue(total) === arrived) return true;
    const last = this.lastNumber(evidence);
    return last !== undefined && last <= pageNumber;
  }

  /** Returns the number of the last page, as the service counts its pages. */
  private lastNumber({ pages, lastPage }: Pick<PagingEvidence, 'pages' | 'lastPage'>) {
    return pages === undefined ? lastPage : pages - this.fromZero;
  }

  /** 1 for a service that counts its pages from 0. */
  private get fromZero(): number {
    return this.firstNumber === 0 ? 1 : 0;
  }

  private toPage(number: number): NextPage {
    this.asked = number;
    return this.to('page', number);
  }

  private to(word: string, value: string | number): NextPage {
    return { next: { query: { [parameterFor(word, this.overrides)]: String(value) } } };
  }

  /** Decides, where there is no next page, whether the list is complete. */
  private completeness(page: Page, evidence: PagingEvidence): Completeness {
    const { arrived } = page;
    const { mode, number, became } = this;
    const { total = evidence.total, pages } = this.announced;
    if (total !== undefined && total.value > arrived) {
      if (became === 'longer') return stated('the list grew while it was being read', again);
      return stated(
        `the service reports ${groupedNumber(total.value)} records but sent ${groupedNumber(arrived)}`,
        'If it pages: rosterctl config set paging.mode page',
        `If ${total.path} counts something else: rosterctl config set paging.total none`,
      );
    }
    if (mode === 'none') return completeList;
    // A service may take an unknown parameter for a filter, which no record passes.
    if (became === 'shorter' && page.count === 0 && evidence.offset === 0)
      return doubt('the service ignored the requested offset', shapesHint);
    // The records after one that went away moved up, the first of them perhaps to a page read before.
    if (became === 'shorter') return doubt('the list shrank while it was being read', again);
    const hasAll = namedValue(total) === arrived;
    if (this.gap && !hasAll) return this.gap;
    if (evidence.more)
      return stated(
        'the service says that there are more, but not where',
        'If it pages by number: rosterctl config set paging.mode page',
        noPages,
        shapesHint,
      );
    if (pages !== undefined && pages > number && !hasAll)
      return stated(
        `the service reports ${pages} pages but sent ${number}`,
        'If it pages by number: rosterctl config set paging.mode page',
        noPages,
      );
    if (mode === 'page' || mode === 'offset' || mode === 'last-id') return completeList;
    if (this.isExplicitEnd(page, evidence)) return completeList;
    if (evidence.passedOver !== undefined)
      return unfollowed('paging.next', evidence.passedOver).end;
    if (evidence.hint !== undefined)
      return doubt(
        `"${evidence.hint}" may lead to more`,
        `To follow it: rosterctl config set paging.next ${shellQuote(evidence.hint)}`,
        somethingElse,
      );
    return number > 1 ? completeList : this.onePage(page, evidence);
  }

  private onePage(
    { status, headers, count, arrived }: Page,
    { size }: PagingEvidence,
  ): Completeness {
    const fixes = [noPages, shapesHint];
    if (partStatuses.has(status) || headers['content-range'] !== undefined)
      return doubt('the service says that this is only part of the list', ...fixes);
    if (size === count || askedSizes(this.query, this.overrides).includes(String(count)))
      return doubt(
        `exactly ${groupedNumber(count)} records arrived, which is the page size`,
        ...fixes,
      );
    if (!suspiciousCounts.has(arrived)) return completeList;
    const reason = `exactly ${groupedNumber(arrived)} records arrived and the service says nothing about more`;
    return { ...doubt(reason, ...fixes), isOnlyCount: true };
  }
}

const again = 'Run the same command again.';
/** The way out of a doubt where the whole list is one page. */
export const noPages = 'If no list has pages: rosterctl config set paging.mode none';
const somethingElse = 'If it is something else: rosterctl config set paging.next none';
const completeList: Completeness = { state: 'complete' };

function doubt(reason: string, ...fixes: readonly string[]): Doubt {
  return { state: 'doubtful', reason, fixes };
}

/** A doubt that rests on what the service itself says. */
const stated = (...text: Parameters<typeof doubt>) => ({ ...doubt(...text), isStated: true });

function namedValue(total: Total | undefined): number | undefined {
  return total?.isNamed ? total.value : undefined;
}

function isLess(now: number | undefined, before: number | undefined): boolean {
  return now !== undefined && before !== undefined && now < before;
}

function unfollowed(key: string, value: string) {
  const reason = `the service points to a next page, which ${key} ${value} does not follow`;
  return { end: doubt(reason, `To follow it: rosterctl config set ${key} auto`, somethingElse) };
}
