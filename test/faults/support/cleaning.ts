import { afterAll } from 'vitest';

const cleanings: (() => void)[] = [];

/** Runs after the test file, for concurrent cases, which end in any order. */
export function atEnd(clean: () => void): void {
  cleanings.push(clean);
}

afterAll(() => {
  for (const clean of cleanings.splice(0)) clean();
});
