/** The summary of a list for a person: counts and facts below its table, and why a filter found nothing. */

import { TryoutStatus } from '../api/schemas.js';
import { isGiven } from '../cli/check.js';
import type { ListSummary } from '../cli/views.js';
import { resolveWhen, timeOf, type When } from '../data/dates.js';
import { didYouMean } from '../data/nearest.js';
import { recordedSize } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { binarySize, firstOf, foldCase, groupedNumber, orList, plural } from '../data/text.js';
import { shortDay, waitingTime } from '../data/time.js';
import { singleLine } from '../terminal/safe-text.js';
import { tagsIn } from './document-tags.js';
import { hasTeam } from './player-filters.js';
import { gamesOf, type TryoutFilterValues, undecided, waitingStatus } from './tryout-filters.js';

/** Values of a filter, and those that the records have. */
class AskedValues {
  private readonly seen = new Map<string, string>();
  private readonly asked: ReadonlySet<string>;

  constructor(
    private readonly values: readonly string[] = [],
    /** The form in which the filter compares values. */
    private readonly key: (value: string) => string = foldCase,
  ) {
    this.asked = new Set(values.map(key));
  }

  observe(found: readonly string[]): void {
    if (!this.isGiven) return;
    for (const value of found) {
      const key = this.key(value);
      if (this.seen.size < mostValues || this.asked.has(key)) this.seen.set(key, value);
    }
  }

  get isGiven(): boolean {
    return this.values.length > 0;
  }

  /** The values that no record has. */
  get unknown(): readonly string[] {
    return this.values.filter((value) => !this.seen.has(this.key(value)));
  }

  /** Returns `Games here: Overwatch 2, Valorant.`, or nothing if the filter was not given. */
  here(name: string): string {
    if (!this.isGiven) return '';
    const known = [...this.seen.values()].map(singleLine).toSorted();
    const [only, ...more] = this.unknown;
    const meant = only && more.length === 0 ? didYouMean(only, known) : '';
    return known.length === 0
      ? ` No ${name.toLowerCase()} here.`
      : `${meant} ${name} here: ${firstOf(known)}.`;
  }
}

const mostValues = 200;

/** The filters of lists of which a summary says why nothing was found. */
export type SummarizedValues = Partial<TryoutFilterValues> & {
  readonly tag?: readonly string[] | undefined;
};

/** Creates the summary of a resource's list, filtered by these values. */
export const listSummaries: {
  readonly [R in ResourceName]?: (values: SummarizedValues) => ListSummary;
} = {
  teams: teamSummary,
  players: playerSummary,
  documents: documentSummary,
  tryouts: tryoutSummary,
};

/** Creates the summary of a list of applications. */
export function tryoutSummary(values: Partial<TryoutFilterValues>) {
  const games = new AskedValues(values.game);
  const counts = new Map<string, number>();
  const oldest = new Map<string, number>();
  const all = new Map<string, number>();
  return {
    observe(record, matches) {
      const status = typeof record['status'] === 'string' ? record['status'] : '';
      games.observe(gamesOf(record));
      all.set(status, (all.get(status) ?? 0) + 1);
      if (!matches) return;
      counts.set(status, (counts.get(status) ?? 0) + 1);
      const ms = timeOf(record['submittedAt']);
      if (ms !== undefined) oldest.set(status, Math.min(oldest.get(status) ?? ms, ms));
    },
    sharedWord() {
      const [[word, count] = ['', 0]] = counts;
      return counts.size === 1 && word !== ''
        ? { word: singleLine(word), isWhole: count === all.get(word) }
        : undefined;
    },
    facts(now) {
      const pending = counts.get(waitingStatus);
      const waits = undecided.map((status) => oldest.get(status)).find((ms) => ms !== undefined);
      return [
        ...(pending !== undefined && counts.size > 1 ? [`${groupedNumber(pending)} pending`] : []),
        ...(waits === undefined ? [] : [`oldest waits ${waitingTime(now.getTime() - waits)}`]),
        ...meantDays(values, now),
      ];
    },
    none(now?: Date) {
      const { status, game = [], ...others } = values;
      const isUnknown = games.isGiven && games.unknown.length === game.length;
      const isOther = Object.values(others).some(isGiven);
      const clauses = [
        ...(status ? [`is ${orList(status)}`] : []),
        ...(games.isGiven
          ? [`${status ? 'with' : 'has'} game ${orList(game.map(singleLine))}`]
          : []),
      ];
      const what = isOther || clauses.length === 0 ? 'matches these filters' : clauses.join(' ');
      const statuses = TryoutStatus.options.flatMap((each) =>
        all.has(each) ? [`${all.get(each)} ${each}`] : [],
      );
      const [days = ''] = now ? meantDays(values, now).map((text) => ` (${text})`) : [];
      const inAll = isUnknown ? '' : ` There are ${statuses.join(', ')}.`;
      return {
        text: `No application ${what}${days}.${games.here('Games')}${statuses.length > 0 ? inAll : ''}`,
        isUnknown,
      };
    },
  } satisfies ListSummary;
}

/** `since 23 Nov until 27 Nov`: the days that words such as monday mean; none without such a word. */
function meantDays(
  { since, until, updatedSince }: Partial<TryoutFilterValues>,
  now: Date,
): readonly string[] {
  const day = (word: string, when: When | undefined, edge: 'start' | 'end') =>
    when?.kind === 'weekday' || when?.kind === 'daysAgo'
      ? [`${word} ${shortDay(new Date(resolveWhen(when, edge, now)), now)}`]
      : [];
  const days = [
    ...day('since', since, 'start'),
    ...day('until', until, 'end'),
    ...day('changed since', updatedSince, 'start'),
  ];
  return days.length > 0 ? [days.join(' ')] : [];
}

function playerSummary(): ListSummary {
  let withTeam = 0;
  let without = 0;
  return {
    observe(record, matches) {
      if (!matches) return;
      if (hasTeam(record)) withTeam += 1;
      else without += 1;
    },
    // Where no record names a team, the service may keep it elsewhere.
    facts: () => (withTeam > 0 && without > 0 ? [`${without} without a team`] : []),
  };
}

function teamSummary(): ListSummary {
  const games = new Set<string>();
  return {
    observe({ game }, matches) {
      if (matches && typeof game === 'string' && game !== '') games.add(foldCase(game));
    },
    facts: () => (games.size > 0 ? [plural(games.size, 'game')] : []),
  };
}

function documentSummary({ tag: asked }: SummarizedValues): ListSummary {
  const tags = new AskedValues(asked, (tag) => tag.normalize());
  let bytes = 0;
  return {
    observe(record, matches) {
      tags.observe(tagsIn(record['tags']) ?? []);
      if (matches) bytes += recordedSize(record) ?? 0;
    },
    facts: () => (bytes > 0 ? [`${binarySize(bytes)} in all`] : []),
    none() {
      if (!tags.isGiven) return undefined;
      const { unknown } = tags;
      // A document must have all of the tags, so one that none has explains the empty list.
      const isUnknown = unknown.length > 0;
      const what = isUnknown
        ? `has the tag ${orList(unknown.map(singleLine))}`
        : 'matches these filters';
      return { text: `No document ${what}.${tags.here('Tags')}`, isUnknown };
    },
  };
}
