/** Deciding in a review: a status by a key, a note, and taking back what was decided last. */
import type { Key } from '../terminal/keys.js';
import { moveTo } from './moving.js';
import { type Decision, type QueueEntry, withEntry } from './queue.js';
import {
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
  return queue(state, { kind: 'decision', id, queued });
}

function queue(state: Review, entry: QueueEntry): ReviewStep {
  const skipped = new Set(state.skipped);
  skipped.delete(entry.id);
  const decisions = withEntry(state.decisions, entry);
  return { state: { ...state, skipped, decisions }, effect: { kind: 'keep', entry } };
}

function countOf({ decisions }: Review): string {
  return `${decisions.queued.size} decided`;
}

/** Takes back the last decision and shows its card. */
export function undo(state: Review): ReviewStep {
  const last = state.decisions.history.at(-1);
  if (!last) return { state: { ...state, message: 'There is nothing to undo.' } };
  const { id, before } = last;
  const index = state.cards.findIndex((card) => card.id === id);
  const step = queue(state, { kind: 'undo', id, queued: before });
  const shown = index < 0 ? step.state : { ...step.state, index, scroll: 0 };
  const { name } = index < 0 ? { name: id } : cardOnScreen(shown);
  const message = `${name}: ${decisionWords(before?.decision)}. ${countOf(shown)}.`;
  return { ...step, state: { ...shown, message } };
}

/** A decision in words: `shortlisted, with a note`. */
export function decisionWords(decision: Decision | undefined): string {
  if (!decision) return 'no longer decided';
  const { status, note } = decision;
  if (status === undefined) return 'a note to add';
  return note ? `${status}, with a note` : status;
}

/** Asks to send what is decided. */
export function send(state: Review): ReviewStep {
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
  // A note is no new decision about the status.
  const step = decide(shown, isAny ? decision : undefined, before?.seen);
  const what = text === '' ? 'note dropped' : 'note kept';
  return {
    ...step,
    state: { ...step.state, message: `${name}: ${what}. ${countOf(step.state)}.` },
  };
}
