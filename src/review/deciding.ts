/** The keys of a review at work: moving between and within cards, deciding by a key or a note, and taking it back. */
import { groupedNumber } from '../data/text.js';
import { contains } from '../data/where.js';
import type { Key } from '../terminal/keys.js';
import { type Decision, type QueueEntry, withEntry } from './queue.js';
import {
  type Card,
  cardOnScreen,
  decisionOnScreen,
  type Review,
  type ReviewStep,
  type ReviewWorld,
  toCards,
} from './state.js';

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
/** Decides the status of the application on the screen and shows the next one. */
export function decideStatus(
  state: Review,
  key: Key,
  status: string,
  { at }: ReviewWorld,
): ReviewStep {
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

/** Queues what is now decided about the card on the screen; `seen`: the status that it was decided on. */
function decide(
  state: Review,
  decision: Decision | undefined,
  seen: unknown = cardOnScreen(state).record['status'] ?? null,
): ReviewStep {
  const { id, name } = cardOnScreen(state);
  const queued = decision && { name, seen, decision };
  return queueDecision(state, { kind: 'decision', id, queued });
}

function queueDecision(state: Review, entry: QueueEntry): ReviewStep {
  const skipped = new Set(state.skipped);
  skipped.delete(entry.id);
  const decisions = withEntry(state.decisions, entry);
  return { state: { ...state, skipped, decisions }, effect: { kind: 'keep', entry } };
}

function countOf({ decisions }: Review): string {
  return `${groupedNumber(decisions.queued.size)} decided`;
}

/** Takes back the last decision and shows its card. */
export function undo(state: Review): ReviewStep {
  const last = state.decisions.history.at(-1);
  if (!last) return { state: { ...state, message: 'There is nothing to undo.' } };
  const { id, before } = last;
  const index = state.cards.findIndex((card) => card.id === id);
  const step = queueDecision(state, { kind: 'undo', id, queued: before });
  const shown = index < 0 ? step.state : { ...step.state, index, scroll: 0 };
  const { name } = index < 0 ? { name: id } : cardOnScreen(shown);
  const isNote = !before && state.decisions.queued.get(id)?.decision.status === undefined;
  const words = isNote ? 'note discarded' : decisionWords(before?.decision);
  const message = `${name}: ${words}. ${countOf(shown)}.`;
  return { ...step, state: { ...shown, message } };
}

/** A decision in words: `shortlisted, with a note`. */
export function decisionWords(decision: Decision | undefined): string {
  if (!decision) return 'decision undone';
  const { status, note } = decision;
  if (status === undefined) return 'a note to add';
  return note ? `${status}, with a note` : status;
}

/** Asks to send what is decided. */
export function sendDecisions(state: Review): ReviewStep {
  if (state.decisions.queued.size > 0) return { state, effect: { kind: 'send' } };
  return { state: { ...state, message: 'Nothing is decided yet.' } };
}

/** Returns the note that is decided about the application on the screen. */
export function noteOnScreen(state: Review): string {
  return decisionOnScreen(state)?.decision.note?.text ?? '';
}

/** Keeps what was typed as the note of the application on the screen; an empty one drops it. */
export function keepNote(state: Review, typed: string, { day }: ReviewWorld): ReviewStep {
  const text = typed.trim();
  const shown = toCards(state, '');
  const { name } = cardOnScreen(state);
  const before = decisionOnScreen(state);
  if (text === noteOnScreen(state)) return { state: shown };
  const { status } = before?.decision ?? {};
  const decision = { ...(status && { status }), ...(text !== '' && { note: { text, day } }) };
  const isAny = Object.keys(decision).length > 0;
  // A note is not a new decision about the status.
  const step = decide(shown, isAny ? decision : undefined, before?.seen);
  const what = text === '' ? 'note discarded' : 'note kept';
  return {
    ...step,
    state: { ...step.state, message: `${name}: ${what}. ${countOf(step.state)}.` },
  };
}

/** Shows another card from its top, with what the last key did. */
export function moveTo(state: Review, index: number, message = ''): Review {
  if (index < 0) return { ...state, message: 'This is the first one.' };
  if (index >= state.cards.length)
    return { ...state, message: `${message} That was the last one: w sends, q keeps.`.trim() };
  return { ...state, index, scroll: 0, message };
}

/** Passes the card on the screen. */
export function skip(state: Review): Review {
  const { id, name } = cardOnScreen(state);
  if (state.decisions.queued.has(id)) return moveTo(state, state.index + 1);
  const skipped = new Set(state.skipped).add(id);
  return moveTo({ ...state, skipped }, state.index + 1, `${name}: skipped.`);
}

/** Scrolls the card to a line, as far as it goes. */
export function scrollTo(state: Review, line: number, { room, length }: ReviewWorld): Review {
  const last = Math.max(0, length - room);
  return { ...state, scroll: Math.min(Math.max(0, line), last), message: '' };
}

/** How many lines a page scrolls: it keeps one of the page before. */
export function pageLength({ room }: ReviewWorld): number {
  return Math.max(1, room - 1);
}

/** Shows the next card that mentions a text; an empty one searches for the last text again. */
export function findCard(state: Review, typed: string): Review {
  const text = typed.trim() === '' ? state.lastSearch : typed.trim();
  const shown = { ...toCards(state, ''), lastSearch: text };
  if (text === '') return shown;
  const { cards, index } = state;
  // The present card comes last.
  const order = cards.map((_, at) => (index + 1 + at) % cards.length);
  const found = order.find((at) => mentions(cards[at], text));
  if (found === undefined) return { ...shown, message: `No application here mentions "${text}".` };
  return { ...shown, index: found, scroll: 0, message: `Found "${text}".` };
}

function mentions(card: Card | undefined, text: string): boolean {
  const { organizationId: _, ...fields } = card?.record ?? {};
  return contains(fields, text);
}
