/** The model of a review: what each key does to its state, without a terminal, a file or a request. */
import { groupedNumber } from '../data/text.js';
import { isCharacter, type Key } from '../terminal/keys.js';
import {
  decideStatus,
  decisionKeys,
  findCard,
  keepNote,
  moveTo,
  noteOnScreen,
  pageLength,
  scrollTo,
  sendDecisions,
  skip,
  undo,
} from './deciding.js';
import {
  cardOnScreen,
  linksIn,
  type Mode,
  type Review,
  type ReviewStep,
  type ReviewWorld,
  toCards,
} from './state.js';

/** A paste may need several reads, which follow each other sooner than anybody types. */
export const burstMs = 50;
const maxText = 1_000;

/**
 * Applies the keys of one read. Only the first one counts, except while text is typed: several keys
 * that arrive at once are a paste, or were typed before the screen showed what the first one did.
 */
export function applyRead(state: Review, keys: readonly Key[], world: ReviewWorld): ReviewStep {
  const [first, ...rest] = keys;
  if (first === undefined) return { state };
  const quietUntil = world.at + burstMs;
  if (isTyping(state)) return typeKeys(state, keys, world);
  // No card is shown, and the screen says that q keeps what is decided.
  if (world.room === 0 && first !== 'interrupt')
    return { state, ...(first === 'q' && { effect: { kind: 'leave', how: 'quit' } }) };
  if (world.at < state.quietUntil && first !== 'interrupt') {
    const held = state.held?.key === first ? { key: first, at: world.at } : state.held;
    return { state: { ...state, held, quietUntil: Math.max(state.quietUntil, quietUntil) } };
  }
  const step = applyKey(state, first, world);
  if (first === 'paste') return { state: { ...step.state, quietUntil } };
  // An arrow that is held repeats faster than the screen is read.
  const isRepeat = !isCharacter(first) && rest.every((key) => key === first);
  if (rest.length === 0 || isRepeat) return step;
  if (step.effect?.kind === 'send') return { state: { ...stayOnCard(step.state), quietUntil } };
  return ignoringRest(step, quietUntil);
}

function ignoringRest(step: ReviewStep, quietUntil: number): ReviewStep {
  const message = `${step.state.message} More keys arrived at once and were ignored.`.trim();
  return { ...step, state: { ...step.state, message, quietUntil } };
}

/** Stays on the card: a person who typed more than `w` has not seen the question. */
export function stayOnCard(state: Review): Review {
  return { ...state, message: 'Other keys arrived with w. Press it again to send.' };
}

function isTyping({ mode }: Review): boolean {
  return mode.kind === 'note' || mode.kind === 'search';
}

/** Types until the text is complete; what the same read holds after that is dropped. */
function typeKeys(state: Review, keys: readonly Key[], world: ReviewWorld): ReviewStep {
  let step: ReviewStep = { state };
  for (const [index, key] of keys.entries()) {
    // The start and the end of a paste may come in one read.
    if (key === 'paste' && keys.indexOf(key) !== index) continue;
    step = applyKey(step.state, key, world);
    if (step.effect || !isTyping(step.state))
      return index < keys.length - 1 ? ignoringRest(step, world.at + burstMs) : step;
  }
  return step;
}

function applyKey(state: Review, key: Key, world: ReviewWorld): ReviewStep {
  const held = state.held?.key === key ? state.held : undefined;
  const next = { ...state, held };
  if (key === 'interrupt') return { state: next, effect: { kind: 'leave', how: 'interrupt' } };
  if (key === 'paste' && !isTyping(next))
    return { state: { ...next, message: 'Pasted text is ignored.' } };
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

/** The keys that only change what is shown, and the state that each leads to. */
const cardKeys: Readonly<Record<Key, (state: Review, world: ReviewWorld) => Review>> = {
  enter: skip,
  right: (state) => moveTo(state, state.index + 1),
  left: (state) => moveTo(state, state.index - 1),
  home: (state, world) => scrollTo(state, 0, world),
  end: (state, world) => scrollTo(state, world.length, world),
  up: (state, world) => scrollTo(state, state.scroll - 1, world),
  down: (state, world) => scrollTo(state, state.scroll + 1, world),
  pageUp: (state, world) => scrollTo(state, state.scroll - pageLength(world), world),
  pageDown: (state, world) => scrollTo(state, state.scroll + pageLength(world), world),
  ' ': (state, world) => scrollTo(state, state.scroll + pageLength(world), world),
  n: (state) => ({ ...state, mode: { kind: 'note', text: noteOnScreen(state) }, message: '' }),
  '/': (state) => ({ ...state, mode: { kind: 'search', text: '' }, message: '' }),
  '?': (state) => ({ ...state, mode: { kind: 'help' }, message: '' }),
  o: askToOpen,
};

function onCards(state: Review, key: Key, world: ReviewWorld): ReviewStep {
  const status = Object.hasOwn(decisionKeys, key) ? decisionKeys[key] : undefined;
  if (status !== undefined) return decideStatus(state, key, status, world);
  const show = Object.hasOwn(cardKeys, key) ? cardKeys[key] : undefined;
  if (show) return { state: show(state, world) };
  if (key === 'u') return undo(state);
  if (key === 'w') return sendDecisions(state);
  if (key === 'q') return { state, effect: { kind: 'leave', how: 'quit' } };
  return { state: { ...state, message: withoutMeaning(key) } };
}

function withoutMeaning(key: Key): string {
  if (!isCharacter(key)) return '';
  const isCapital = key !== key.toLowerCase();
  return isCapital ? 'The keys are lower case letters. ? lists them.' : '? lists the keys.';
}

// --- typing ---

function onText(
  state: Review,
  mode: Extract<Mode, { text: string }>,
  key: Key,
  world: ReviewWorld,
): ReviewStep {
  const withText = (text: string, message = ''): ReviewStep => ({
    state: { ...state, mode: { ...mode, text }, message },
  });
  if (key === 'escape') return { state: toCards(state, '') };
  if (key === 'backspace') return withText(Array.from(mode.text).slice(0, -1).join(''));
  if (key === 'erase') return withText('');
  if (key === 'enter')
    return mode.kind === 'note'
      ? keepNote(state, mode.text, world)
      : { state: findCard(state, mode.text) };
  if (key !== 'paste' && !isCharacter(key)) return { state };
  // A paste is typed as one line.
  const added = key === 'paste' ? (world.pasted ?? '').replaceAll(/[\s\p{Cc}]+/gu, ' ') : key;
  let { text } = mode;
  for (const character of added) {
    if (text.length + character.length > maxText) return withText(text, isFull);
    text += character;
  }
  return withText(text);
}

const isFull = `No room for more than ${groupedNumber(maxText)} characters: the rest was left out.`;

// --- links ---

function askToOpen(state: Review): Review {
  const links = linksIn(cardOnScreen(state).record);
  if (links.length === 0) return { ...state, message: 'This application has no link to open.' };
  return { ...state, mode: { kind: 'link', links, at: 0 }, message: '' };
}

function onLink(state: Review, mode: Extract<Mode, { kind: 'link' }>, key: Key): ReviewStep {
  const { links, at } = mode;
  const link = links[at];
  if (key === 'o' && links.length > 1)
    return { state: { ...state, mode: { ...mode, at: (at + 1) % links.length } } };
  if (key === 'y' && link)
    return { state: toCards(state, ''), effect: { kind: 'open', url: link.url } };
  return { state: toCards(state, 'Nothing was opened.') };
}
