/** Moving in a review: between cards, within a card, and to one that mentions a text. */
import { type Card, cardOnScreen, type Review, type ReviewWorld, toCards } from './state.js';

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
