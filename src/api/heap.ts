/**
 * Keeps V8's space for new objects as small as it is now: the records of a long list are garbage a
 * moment later, and a larger space for them costs 20 MiB and saves no time. Versions whose V8 pays no
 * heed to the flag are left alone.
 */
export async function keepHeapSmall(nodeVersion: string): Promise<void> {
  if (!/^v?2[02]\./.test(nodeVersion)) return;
  isSmall = true;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
}

let isSmall = false;

/**
 * Ends that: what thousands of requests leave behind takes a tenth of their time to clear away in so
 * small a space, and 20 MiB more end that. In few large steps, so that runs of all sizes have as much.
 */
export async function letHeapGrow(): Promise<void> {
  if (!isSmall) return;
  isSmall = false;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=4');
}

const manyRows = 20_000;

/** The heap of a long run would grow to twice what lives in it; a little more work keeps it near that. */
export async function keepHeapClose(rows: number): Promise<void> {
  if (rows <= manyRows) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--heap-growing-percent=5');
}
