import { binarySize } from './cells.js';

/** `12.3 MiB of 40 MiB, 5.1 MiB/s, 6 s left`: how far a transfer is after so many seconds. */
export function bytesMoved(done: number, total: number, seconds: number): string {
  const rate = done / Math.max(seconds, 0.001);
  const left = Math.ceil(Math.max(0, total - done) / Math.max(rate, 1));
  return `${binarySize(done)} of ${binarySize(total)}, ${binarySize(rate)}/s, ${left} s left`;
}
