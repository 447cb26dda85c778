/** Moments by two clocks: how old a read is must not depend on a clock that is set or that sleeps. */

/** A moment in milliseconds of the wall clock and of a monotonic clock. */
export interface Instant {
  readonly wall: number;
  readonly mono: number;
}

/**
 * Milliseconds from `at` to `now`: the larger of what both clocks say, for the monotonic one may stand
 * still while the machine is suspended. Infinity where a clock went backwards.
 */
export function ageMs(at: Instant, now: Instant): number {
  const wall = now.wall - at.wall;
  const mono = now.mono - at.mono;
  return wall < 0 || mono < 0 ? Number.POSITIVE_INFINITY : Math.max(wall, mono);
}
