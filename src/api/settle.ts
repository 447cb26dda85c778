import { isDeepStrictEqual } from 'node:util';
import { formatDuration, parseDuration } from '../data/duration.js';
import type { JsonObject } from '../data/json.js';
import { pause } from '../data/pause.js';
import { asksForQuiet, Failure, UnknownOutcomeError, UsageError } from '../errors.js';

/** What settling needs of the world; a command's context has it all. */
export interface SettleWorld {
  /** ROSTERCTL_SETTLE: how long after it was sent a write may still take effect. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly signal: AbortSignal;
  note(message: string): void;
}

const firstMs = 2000;
const lastMs = 15_000;

type Witness<W> = () => Promise<W | typeof notDone | undefined>;

/** What a witness gives that saw the thing just as it was before the write. */
export const notDone = Symbol('not done');

/** Whether all that a write would set reads as before it; false where that is not known. */
export function isUntouched(
  body: JsonObject,
  before: JsonObject | undefined,
  now: JsonObject,
): boolean {
  if (!before) return false;
  return Object.keys(body).every((field) =>
    isDeepStrictEqual(now[field] ?? null, before[field] ?? null),
  );
}

/**
 * Sends a write. When its outcome is unknown, `witness` reads whether it took effect: soon, and once
 * more when a late request must have arrived; it gives undefined where nothing shows. What is surely
 * not done by then (`notDone`) is sent again, at most `resends` times. Throws what `send` throws, the
 * UnknownOutcomeError where no reading shows the effect.
 */
export async function settle<T, W>(
  send: () => Promise<T>,
  witness: Witness<W>,
  world: SettleWorld,
  { resends = 0 }: { readonly resends?: number } = {},
): Promise<{ readonly answer: T } | { readonly seen: W }> {
  const longest = settleMs(world.env);
  const sent = performance.now();
  try {
    return { answer: await send() };
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError) || asksForQuiet(error)) throw error;
    const last = await look(witness, world, sent, [longest, error.wait * 1000]);
    const { seen } = last;
    if (isSeen(seen)) return { seen };
    if (world.signal.aborted) throw error;
    if (seen === notDone && resends > 0 && error.delivery !== 'applied') {
      world.note('It was not done; sending it once more.');
      return settle(send, witness, world, { resends: resends - 1 });
    }
    const reading = last.unread
      ? `Reading it again failed: ${last.unread.message.replace(/\.$/u, '')}.`
      : `It was read again ${formatDuration(Math.max(longest, error.wait * 1000))} after it was sent and does not show.`;
    throw new UnknownOutcomeError(error.message, error.call, {
      hint: `${reading} ${error.hint ?? ''}`.trim(),
      cause: error.cause,
      delivery: error.delivery,
    });
  }
}

function isSeen<W>(seen: W | typeof notDone | undefined): seen is W {
  return seen !== undefined && seen !== notDone;
}

/** Milliseconds of ROSTERCTL_SETTLE. Throws UsageError, so before anything is sent. */
export function settleMs(env: SettleWorld['env']): number {
  const text = env['ROSTERCTL_SETTLE'];
  if (!text) return lastMs;
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`ROSTERCTL_SETTLE: ${error.message}`, { hint: error.hint });
  }
}

/** What the last look came to. */
interface Looked<W> {
  readonly seen: W | typeof notDone | undefined;
  /** Why it showed nothing. */
  readonly unread?: Failure;
}

/** Looks soon and when nothing can arrive any more; not before the service wants to hear anything. */
async function look<W>(
  witness: Witness<W>,
  world: SettleWorld,
  sent: number,
  [lateMs, quietMs]: readonly [number, number],
): Promise<Looked<W>> {
  const { signal } = world;
  const longest = Math.max(lateMs, quietMs);
  let waitMs = Math.max(Math.min(firstMs, longest), quietMs);
  for (;;) {
    world.note(`Whether it took effect is not known; looking in ${aboutSeconds(waitMs)}.`);
    // One more, since a timer may fire a fraction early: that would read once too often.
    // oxlint-disable-next-line no-await-in-loop
    await pause(waitMs + 1, signal);
    if (signal.aborted) return { seen: undefined };
    const since = performance.now() - sent;
    // oxlint-disable-next-line no-await-in-loop
    const looked = await read(witness);
    if (isSeen(looked.seen) || since >= longest) return looked;
    waitMs = Math.max(1, Math.ceil(longest - (performance.now() - sent)));
  }
}

/** A reading that fails shows nothing. */
async function read<W>(witness: Witness<W>): Promise<Looked<W>> {
  try {
    return { seen: await witness() };
  } catch (error) {
    if (error instanceof Failure) return { seen: undefined, unread: error };
    throw error;
  }
}

function aboutSeconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
