/** The model of a review: what each key does to its state, without a terminal, a file or a request. */
import type { JsonObject } from '../data/json.js';
import { plural } from '../data/text.js';
import { isCharacter, type Key } from '../terminal/keys.js';
import { type Link, linksIn } from './links.js';
import { type Decision, type Decisions, type Queued, type QueueEntry, withEntry } from './queue.js';

/** One application to review. */
export interface Card {
  readonly id: string;
  /** Its name or else its id, sanitized. */
  readonly name: string;
  readonly record: JsonObject;
}

/** What the keys mean at the moment. */
export type Mode =
  | { readonly kind: 'cards' }
  | { readonly kind: 'help' }
  | { readonly kind: 'note' | 'search'; readonly text: string }
  | { readonly kind: 'link'; readonly links: readonly Link[]; readonly at: number }
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
  /** What the last key did. */
  readonly message: string;
  /** The decision key that was pressed last, and when it last arrived. */
  readonly held: { readonly key: Key; readonly at: number } | undefined;
  readonly lastSearch: string;
  /** Until then, in milliseconds, keys belong to a burst of which the first one counted. */
  readonly quietUntil: number;
}

/** What a key asks for besides a new state. */
export type Effect =
  | { readonly kind: 'keep'; readonly entry: QueueEntry }
  | { readonly kind: 'open'; readonly url: string }
  | { readonly kind: 'send' }
  | { readonly kind: 'leave'; readonly how: 'quit' | 'interrupt' };

export interface Step {
  readonly state: Review;
  readonly effect?: Effect | undefined;
}

/** What a step may know of the world. */
export interface ReviewWorld {
  /** When the key arrived, in milliseconds of a monotonic clock. */
  readonly at: number;
  /** Today, `2026-11-22`. */
  readonly day: string;
  /** How many lines of a card the screen shows, and how many the present card has. */
  readonly room: number;
  readonly length: number;
}

/** The status that each decision key means. */
export const decisionKeys: Readonly<Record<Key, string>> = {
  s: 'shortlisted',
  r: 'rejected',
  a: 'accepted',
  e: 'reviewing',
};

/**
 * A key that is held repeats: first after up to two thirds of a second, then faster. The same decision
 * key counts again only after a longer silence.
 */
const heldMs = 700;
/** A paste may need several reads, which follow each other sooner than anybody types. */
const burstMs = 50;
const maxText = 1_000;

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

/**
 * Applies the keys of one read. Only the first one counts, except while text is typed: several keys
 * that arrive at once are a paste, or were typed before the screen showed what the first one did.
 */
export function applyRead(state: Review, keys: readonly Key[], world: ReviewWorld): Step {
  const [first, ...rest] = keys;
  if (first === undefined) return { state };
  const quietUntil = world.at + burstMs;
  if (isTyping(state)) return typeKeys(state, keys, world);
  if (world.at < state.quietUntil && first !== 'interrupt')
    return { state: { ...state, quietUntil } };
  const step = applyKey(state, first, world);
  if (first === 'paste') return { state: { ...step.state, quietUntil } };
  // An arrow that is held repeats faster than the screen is read.
  const isRepeat = !isCharacter(first) && rest.every((key) => key === first);
  if (rest.length === 0 || isRepeat) return step;
  const message = `${step.state.message} More keys came at once and were dropped.`.trim();
  return { ...step, state: { ...step.state, message, quietUntil } };
}

function isTyping({ mode }: Review): boolean {
  return mode.kind === 'note' || mode.kind === 'search';
}

/** Types until the text is complete; what the same read holds after that is dropped. */
function typeKeys(state: Review, keys: readonly Key[], world: ReviewWorld): Step {
  let step: Step = { state };
  for (const key of keys) {
    step = applyKey(step.state, key, world);
    if (step.effect || !isTyping(step.state)) break;
  }
  return step;
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

/** Applies one key. */
export function applyKey(state: Review, key: Key, world: ReviewWorld): Step {
  const held = state.held?.key === key ? state.held : undefined;
  const next = { ...state, held };
  if (key === 'interrupt') return { state: next, effect: { kind: 'leave', how: 'interrupt' } };
  if (key === 'paste') return { state: { ...next, message: 'Pasted text is ignored.' } };
  const { mode } = next;
  switch (mode.kind) {
    case 'cards':
      return onCards(next, key, world);
    case 'help':
    case 'address':
      return { state: toCards(next, '') };
    case 'note':
    case 'search':
      return onText(next, mode, key, world);
    case 'link':
      return onLink(next, mode, key);
    default:
      return mode;
  }
}

function toCards(state: Review, message: string): Review {
  return { ...state, mode: { kind: 'cards' }, message };
}

function onCards(state: Review, key: Key, world: ReviewWorld): Step {
  const status = Object.hasOwn(decisionKeys, key) ? decisionKeys[key] : undefined;
  if (status !== undefined) return decideStatus(state, key, status, world);
  switch (key) {
    case 'enter':
      return { state: skip(state) };
    case 'right':
      return { state: moveTo(state, state.index + 1) };
    case 'left':
      return { state: moveTo(state, state.index - 1) };
    case 'home':
      return { state: scrollTo(state, 0, world) };
    case 'end':
      return { state: scrollTo(state, world.length, world) };
    case 'up':
      return { state: scrollTo(state, state.scroll - 1, world) };
    case 'down':
      return { state: scrollTo(state, state.scroll + 1, world) };
    case 'pageUp':
      return { state: scrollTo(state, state.scroll - pageOf(world), world) };
    case ' ':
    case 'pageDown':
      return { state: scrollTo(state, state.scroll + pageOf(world), world) };
    case 'n':
      return {
        state: { ...state, mode: { kind: 'note', text: noteOnScreen(state) }, message: '' },
      };
    case '/':
      return { state: { ...state, mode: { kind: 'search', text: '' }, message: '' } };
    case '?':
      return { state: { ...state, mode: { kind: 'help' }, message: '' } };
    case 'o':
      return { state: askToOpen(state) };
    case 'u':
      return undo(state);
    case 'w':
      return send(state);
    case 'q':
      return { state, effect: { kind: 'leave', how: 'quit' } };
    default:
      return { state: { ...state, message: withoutMeaning(key) } };
  }
}

function withoutMeaning(key: Key): string {
  if (!isCharacter(key)) return '';
  const isCapital = key !== key.toLowerCase();
  return isCapital ? 'The keys are lower case letters. ? lists them.' : '? lists the keys.';
}

// --- moving ---

function moveTo(state: Review, index: number, message = ''): Review {
  if (index < 0) return { ...state, message: 'This is the first one.' };
  if (index >= state.cards.length)
    return { ...state, message: `${message} That was the last one: w sends, q keeps.`.trim() };
  return { ...state, index, scroll: 0, message };
}

function skip(state: Review): Review {
  const { id, name } = cardOnScreen(state);
  if (state.decisions.queued.has(id)) return moveTo(state, state.index + 1);
  const skipped = new Set(state.skipped).add(id);
  return moveTo({ ...state, skipped }, state.index + 1, `${name}: skipped.`);
}

function scrollTo(state: Review, line: number, { room, length }: ReviewWorld): Review {
  const last = Math.max(0, length - room);
  return { ...state, scroll: Math.min(Math.max(0, line), last), message: '' };
}

/** A page keeps one line of the page before. */
function pageOf({ room }: ReviewWorld): number {
  return Math.max(1, room - 1);
}

// --- deciding ---

function decideStatus(state: Review, key: Key, status: string, { at }: ReviewWorld): Step {
  const isHeld = state.held !== undefined && at - state.held.at < heldMs;
  const held = { key, at };
  if (isHeld) {
    const message = `${state.message.replace(stillHeld, '')}${stillHeld}`.trim();
    return { state: { ...state, held, message } };
  }
  const { note } = decisionOnScreen(state)?.decision ?? {};
  const { name } = cardOnScreen(state);
  const step = decide({ ...state, held }, { status, ...(note && { note }) });
  const message = `${name}: ${status}. ${countOf(step.state)}, u undoes.`;
  return { ...step, state: moveTo(step.state, step.state.index + 1, message) };
}

const stillHeld = ' A held key counts once.';

/** Queues what is now decided about the card on the screen. */
function decide(state: Review, decision: Decision | undefined): Step {
  const { id, name, record } = cardOnScreen(state);
  const queued = decision && { name, seen: record['status'] ?? null, decision };
  return queue(state, { kind: 'decision', id, queued });
}

function queue(state: Review, entry: QueueEntry): Step {
  const skipped = new Set(state.skipped);
  skipped.delete(entry.id);
  const decisions = withEntry(state.decisions, entry);
  return { state: { ...state, skipped, decisions }, effect: { kind: 'keep', entry } };
}

function countOf({ decisions }: Review): string {
  return `${decisions.queued.size} decided`;
}

function undo(state: Review): Step {
  const last = state.decisions.history.at(-1);
  if (!last) return { state: { ...state, message: 'There is nothing to undo.' } };
  const { id, before } = last;
  const index = state.cards.findIndex((card) => card.id === id);
  const step = queue(state, { kind: 'undo', id, queued: before });
  const shown = index < 0 ? step.state : { ...step.state, index, scroll: 0 };
  const { name } = index < 0 ? { name: id } : cardOnScreen(shown);
  const message = `${name}: ${wordsOf(before?.decision)}. ${countOf(shown)}.`;
  return { ...step, state: { ...shown, message } };
}

/** A decision in words: `shortlisted, with a note`. */
export function wordsOf(decision: Decision | undefined): string {
  if (!decision) return 'no longer decided';
  const { status, note } = decision;
  if (status === undefined) return 'a note to add';
  return note ? `${status}, with a note` : status;
}

function send(state: Review): Step {
  if (state.decisions.queued.size > 0) return { state, effect: { kind: 'send' } };
  return { state: { ...state, message: 'Nothing is decided yet.' } };
}

// --- typing ---

function noteOnScreen(state: Review): string {
  return decisionOnScreen(state)?.decision.note?.text ?? '';
}

function onText(
  state: Review,
  mode: Extract<Mode, { text: string }>,
  key: Key,
  world: ReviewWorld,
): Step {
  const withText = (text: string): Step => ({ state: { ...state, mode: { ...mode, text } } });
  if (key === 'escape') return { state: toCards(state, '') };
  if (key === 'backspace') return withText(Array.from(mode.text).slice(0, -1).join(''));
  if (key === 'erase') return withText('');
  if (key === 'enter')
    return mode.kind === 'note'
      ? keepNote(state, mode.text, world)
      : { state: find(state, mode.text) };
  if (!isCharacter(key) || mode.text.length >= maxText) return { state };
  return withText(mode.text + key);
}

function keepNote(state: Review, typed: string, { day }: ReviewWorld): Step {
  const text = typed.trim();
  const shown = toCards(state, '');
  const { name } = cardOnScreen(state);
  const before = decisionOnScreen(state)?.decision;
  if (text === (before?.note?.text ?? '')) return { state: shown };
  const { status } = before ?? {};
  const decision = { ...(status && { status }), ...(text !== '' && { note: { text, day } }) };
  const step = decide(shown, Object.keys(decision).length > 0 ? decision : undefined);
  const what = text === '' ? 'note dropped' : 'note kept';
  return {
    ...step,
    state: { ...step.state, message: `${name}: ${what}. ${countOf(step.state)}.` },
  };
}

function find(state: Review, typed: string): Review {
  const text = typed.trim() === '' ? state.lastSearch : typed.trim();
  const shown = { ...toCards(state, ''), lastSearch: text };
  if (text === '') return shown;
  const { cards, index } = state;
  // The present card comes last.
  const order = cards.map((_, at) => (index + 1 + at) % cards.length);
  const wanted = searchable(text);
  const found = order.find((at) => mentions(cards[at], wanted));
  if (found === undefined) return { ...shown, message: `No application here mentions "${text}".` };
  return { ...shown, index: found, scroll: 0, message: `Found "${text}".` };
}

function mentions(card: Card | undefined, wanted: string): boolean {
  if (!card) return false;
  const { organizationId: _, ...fields } = card.record;
  return [...texts(fields)].some((text) => searchable(text).includes(wanted));
}

function* texts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* texts(each);
}

function searchable(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

// --- links ---

function askToOpen(state: Review): Review {
  const links = linksIn(cardOnScreen(state).record);
  if (links.length === 0) return { ...state, message: 'This application has no link to open.' };
  return { ...state, mode: { kind: 'link', links, at: 0 }, message: '' };
}

function onLink(state: Review, mode: Extract<Mode, { kind: 'link' }>, key: Key): Step {
  const { links, at } = mode;
  const link = links[at];
  if (key === 'o' && links.length > 1)
    return { state: { ...state, mode: { ...mode, at: (at + 1) % links.length } } };
  if (key === 'y' && link)
    return { state: toCards(state, ''), effect: { kind: 'open', url: link.url } };
  return { state: toCards(state, 'Nothing was opened.') };
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
