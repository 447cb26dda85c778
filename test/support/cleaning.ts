const cleanings: (() => unknown)[] = [];

/** Runs after the test file, wherever it is called: Vitest drops an `afterAll` that a test or a hook registers. */
export function atEnd(clean: () => unknown): void {
  cleanings.push(clean);
}

/** Runs what `atEnd` was given, the latest first. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleanings.splice(0).toReversed()) await clean();
}
