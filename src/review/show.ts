/** Shows a review on the full screen: reads keys, keeps each decision on disk, then draws what it did. */
import type { Canvas } from '../cli/views.js';
import type { Context } from '../context.js';
import { localDay } from '../data/dates.js';
import { isUtf8Locale } from '../data/environment.js';
import type { FullScreen, ScreenEvent } from '../terminal/full-screen.js';
import { escapeWaitMs, type Key, KeyReader } from '../terminal/keys.js';
import { createPaint } from '../terminal/paint.js';
import { type Cards, reviewCard } from './cards.js';
import { type Frame, frameOf } from './frame.js';
import { applyRead, burstMs, stayOnCard } from './model.js';
import type { ReviewQueue } from './queue.js';
import { cardOnScreen, decisionOnScreen, type Effect, type Review } from './state.js';

interface EndedReview {
  readonly how: 'send' | 'quit' | 'interrupt';
  readonly state: Review;
}

type ShownParts = Pick<Cards, 'title' | 'everyone' | 'changes'> & { readonly queue: ReviewQueue };

/** Shows a review until a key or a signal ends it. Throws OutputError if a decision cannot be written. */
export async function showReview(
  screen: FullScreen,
  context: Context,
  start: Review,
  { queue, ...shows }: ShownParts,
): Promise<EndedReview> {
  const reader = new KeyReader();
  const picture = painter(screen, context, shows);
  let state = start;
  if (!(await dropEarlyKeys(screen, reader))) return { how: 'interrupt', state };
  // Not earlier, because the screen may have been resized meanwhile.
  let frame = picture(state);
  for (;;) {
    screen.draw(frame);
    const event = await screen.next(reader.mayBeEscape ? escapeWaitMs : undefined);
    if (event.kind === 'end') return { how: 'interrupt', state };
    const keys = keysOf(event, reader);
    if (keys[0] === 'suspend') screen.suspend();
    if (keys.length > 0 && keys[0] !== 'suspend' && keys[0] !== 'redraw') {
      const at = event.kind === 'read' ? event.at : context.clock();
      const { room, length } = frame;
      const day = localDay(context.now());
      const pasted = reader.takePasted();
      const step = applyRead(state, keys, { at, day, room, length, pasted });
      const { effect } = step;
      const how = effect?.kind === 'send' ? await afterSend(screen, reader) : undefined;
      if (how && how !== 'stay') return { how, state: step.state };
      if (effect?.kind === 'leave') return { how: effect.how, state: step.state };
      const begun = context.clock();
      state = await carryOut(context, queue, effect, step.state);
      const now = context.clock();
      // A key that is pressed again because nothing happens does not decide about the next card.
      if (now - begun > stallMs) state = { ...state, quietUntil: Math.max(state.quietUntil, now) };
    }
    if (event.kind === 'resize' || keys[0] === 'redraw') screen.draw({ lines: [] });
    frame = picture(state);
  }
}

/** A disk this slow shows; on a faster one, a person types ahead of the screen on purpose. */
const stallMs = 1_000;

/** Drops the keys that were pressed before a card was shown. Returns false if one of them, or a signal, ends the review. */
async function dropEarlyKeys(screen: FullScreen, reader: KeyReader): Promise<boolean> {
  for (;;) {
    const event = await screen.next(burstMs);
    if (event.kind === 'quiet') return true;
    if (event.kind === 'end' || keysOf(event, reader).includes('interrupt')) return false;
  }
}

/** Sends unless more keys come with `w`: what asks next must not read them as its answer. */
async function afterSend(screen: FullScreen, reader: KeyReader) {
  const event = await screen.next(burstMs);
  if (event.kind === 'end' || keysOf(event, reader).includes('interrupt')) return 'interrupt';
  return event.kind === 'read' ? 'stay' : 'send';
}

function keysOf(event: ScreenEvent, reader: KeyReader): readonly Key[] {
  if (event.kind === 'read') return reader.push(event.bytes, event.at);
  return event.kind === 'quiet' ? reader.endWait() : [];
}

/** Does what a key asked for; returns the state afterwards. */
async function carryOut(
  { env, platform }: Context,
  queue: ReviewQueue,
  effect: Effect | undefined,
  state: Review,
): Promise<Review> {
  if (effect?.kind === 'keep') await queue.append(effect.entry);
  if (effect?.kind === 'send') return stayOnCard(state);
  if (effect?.kind !== 'open') return state;
  const { url } = effect;
  const { openObstacle, openWithDesktop } = await import('../terminal/other-programs.js');
  const isOpen =
    openObstacle(env, platform) === undefined && (await openWithDesktop(url, env, platform));
  if (isOpen) return { ...state, message: 'Opened.' };
  return { ...state, mode: { kind: 'address', url } };
}

/** Returns what makes the frame of a state; the lines of a card are kept while it and the width stay. */
function painter(
  screen: FullScreen,
  context: Context,
  loaded: Pick<Cards, 'title' | 'everyone' | 'changes'>,
): (state: Review) => Frame {
  const { streams, env } = context;
  const paint = createPaint(streams.stderr.color);
  const isUtf8 = isUtf8Locale(env);
  let key: readonly unknown[] = [];
  let lines: readonly string[] = [];
  return (state) => {
    const { columns, rows } = screen;
    const card = cardOnScreen(state);
    const queued = decisionOnScreen(state);
    const now = [card, queued, columns];
    if (now.some((each, index) => each !== key[index])) {
      const canvas: Canvas = { now: context.now(), columns, isTerminal: true, isUtf8, paint };
      lines = reviewCard(context, card, queued, loaded)(canvas);
      key = now;
    }
    return frameOf(state, lines, { columns, rows, paint, isUtf8, title: loaded.title });
  };
}
