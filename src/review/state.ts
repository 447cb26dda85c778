/** The state of a review: its cards, the one on the screen, and what is decided. */
import { isObject, type JsonObject } from '../data/json.js';
import { plural, stripTrailing } from '../data/text.js';
import type { Key } from '../terminal/keys.js';
import type { Decisions, Queued, QueueEntry } from './queue.js';

/** One application to review. */
export interface Card {
  readonly id: string;
  /** Its name or else its id, sanitized. */
  readonly name: string;
  readonly record: JsonObject;
}

/** The present meaning of the keys. */
export type Mode =
  | { readonly kind: 'cards' }
  | { readonly kind: 'help' }
  | { readonly kind: 'note' | 'search'; readonly text: string }
  | { readonly kind: 'link'; readonly links: readonly WebLink[]; readonly at: number }
  | { readonly kind: 'address'; readonly url: string };

/** The state of a review. There is at least one card. */
export interface Review {
  readonly cards: readonly Card[];
  /** The card on the screen. */
  readonly index: number;
  /** The first line of it that is shown. */
  readonly scroll: number;
  readonly mode: Mode;
  readonly decisions: Decisions;
  /** The cards that were passed without a decision. */
  readonly skipped: ReadonlySet<string>;
  /** The effect of the last key, in words. */
  readonly message: string;
  /** The decision key that was pressed last, and when it last arrived. */
  readonly held: { readonly key: Key; readonly at: number } | undefined;
  readonly lastSearch: string;
  /** Until then, in milliseconds, keys belong to a burst of which the first one counted. */
  readonly quietUntil: number;
}

/** A request of a key besides its new state. */
export type Effect =
  | { readonly kind: 'keep'; readonly entry: QueueEntry }
  | { readonly kind: 'open'; readonly url: string }
  | { readonly kind: 'send' }
  | { readonly kind: 'leave'; readonly how: 'quit' | 'interrupt' };

/** The result of a key: the state after it, and its request. */
export interface ReviewStep {
  readonly state: Review;
  readonly effect?: Effect | undefined;
}

/** The facts about the world that a step may use. */
export interface ReviewWorld {
  /** When the key arrived, in milliseconds of a monotonic clock. */
  readonly at: number;
  /** Today, `2026-11-22`. */
  readonly day: string;
  /** How many lines of a card the screen shows, and how many the present card has. */
  readonly room: number;
  readonly length: number;
  /** The text of a paste that ended with the read. */
  readonly pasted?: string;
}

/** Creates a review at its first card without a decision. */
export function startReview(cards: readonly Card[], decisions: Decisions, message: string): Review {
  const index = cards.findIndex(({ id }) => !decisions.queued.has(id));
  return {
    cards,
    index: Math.max(0, index),
    scroll: 0,
    mode: { kind: 'cards' },
    decisions,
    skipped: new Set(),
    message,
    held: undefined,
    lastSearch: '',
    quietUntil: 0,
  };
}

/** Returns the card on the screen. */
export function cardOnScreen({ cards, index }: Review): Card {
  const card = cards[index];
  if (!card) throw new RangeError(`There is no card ${index}.`);
  return card;
}

/** Returns the decision about the card on the screen, if there is one. */
export function decisionOnScreen(state: Review): Queued | undefined {
  return state.decisions.queued.get(cardOnScreen(state).id);
}

/** Returns to the card on the screen. */
export function toCards(state: Review, message: string): Review {
  return { ...state, mode: { kind: 'cards' }, message };
}

/** `3 shortlisted`, `1 with a note`: how many decisions of each kind are queued, and how many cards were passed. */
export function tallyOf({ decisions, skipped }: Review): readonly string[] {
  const counts = new Map<string, number>();
  for (const { decision } of decisions.queued.values()) {
    const word = decision.status ?? 'with a note';
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [
    ...[...counts].map(([word, count]) => `${count} ${word}`),
    ...(skipped.size > 0 ? [plural(skipped.size, 'skipped', 'skipped')] : []),
  ];
}

/** A web address as it is passed on, in ASCII. */
interface WebLink {
  readonly url: string;
  /** In ASCII: letters that look like others are spelt out (`xn--…`). */
  readonly host: string;
}

const address = /https?:\/\/[^\s<>"'`|\\^{}\p{Cc}\p{Cf}]+/giu;
const maxTextLength = 64 * 1024;
const maxLinks = 20;

/** Returns the links of a record: those of its answers first, in the order of the form, then all others. */
export function linksIn(record: JsonObject): readonly WebLink[] {
  const { formResponses, ...others } = record;
  const links = new Map<string, WebLink>();
  for (const text of textsIn([formResponses, others]))
    for (const [found] of text.slice(0, maxTextLength).matchAll(address)) {
      const link = webLinkOf(found);
      if (link && links.size < maxLinks) links.set(link.url, link);
    }
  return [...links.values()];
}

/** Returns the link in what `address` found; undefined for one with a user name. */
function webLinkOf(text: string): WebLink | undefined {
  // Punctuation that ends a sentence, or closes a bracket opened before the address, is not part of it.
  const ended = stripTrailing(text, '.,;:!?');
  const bare = ended.includes('(') ? ended : stripTrailing(ended, ')');
  if (!URL.canParse(bare)) return undefined;
  const { username, password, host, href } = new URL(bare);
  return username === '' && password === '' ? { url: href, host } : undefined;
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each);
  else if (isObject(value)) for (const each of Object.values(value)) yield* textsIn(each);
}
