/** Applications to review, and what a person does with them. */
import type { JsonObject } from '../../src/data/json.js';
import { applyRead } from '../../src/review/model.js';
import { type Decisions, withEntry } from '../../src/review/queue.js';
import { type Card, type Effect, type Review, startReview } from '../../src/review/state.js';
import type { Key } from '../../src/terminal/keys.js';

export const undecided: Decisions = { queued: new Map(), history: [] };

/** A card of a pending application. */
export function cardOf(number: number, more: JsonObject = {}): Card {
  const id = `app_${number}`;
  const record = { id, name: `Applicant ${number}`, status: 'pending', ...more };
  return { id, name: `Applicant ${number}`, record };
}

export function cards(count: number): readonly Card[] {
  return Array.from({ length: count }, (_, index) => cardOf(index + 1));
}

/** A person who types one key a second on a screen with room for ten lines, of cards with thirty. */
export function atKeys(all: readonly Card[] = cards(3), decisions: Decisions = undecided) {
  let at = 0;
  let state = startReview(all, decisions, '');
  /** What a queue file would hold. */
  let kept = decisions;
  const effects: Effect[] = [];
  const read = (keys: readonly Key[], ms = 1_000, pasted = ''): Review => {
    at += ms;
    const step = applyRead(state, keys, { at, day: '2026-11-22', room: 10, length: 30, pasted });
    ({ state } = step);
    if (step.effect) effects.push(step.effect);
    if (step.effect?.kind === 'keep') kept = withEntry(kept, step.effect.entry);
    return state;
  };
  return {
    read,
    /** Keys of the next milliseconds are pressed before the screen shows what the last one did. */
    wait: (ms: number): void => {
      state = { ...state, quietUntil: at + ms };
    },
    /** Pastes a text, in one read. */
    paste: (text: string): Review => read(['paste', 'paste'], 1_000, text),
    /** Types each key in a read of its own. */
    type: (...keys: readonly Key[]): Review => {
      for (const key of keys) read([key]);
      return state;
    },
    state: () => state,
    kept: () => kept,
    effects: () => effects,
    /** The decisions as words: `app_1 shortlisted "a note"`. */
    decided: (): readonly string[] =>
      [...kept.queued].map(
        ([
          id,
          {
            decision: { status, note },
          },
        ]) => [id, status, note && `"${note.text}"`].filter(Boolean).join(' '),
      ),
  };
}

/** The keys that type a text. */
export function letters(text: string): readonly Key[] {
  return Array.from(text);
}
