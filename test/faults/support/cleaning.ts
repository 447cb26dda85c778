import { afterAll } from 'vitest';

const cleanings: (() => void)[] = [];

/** Runs when the test file is done; for concurrent cases, whose own ends come in any order. */
export function atEnd(clean: () => void): void {
  cleanings.push(clean);
}

afterAll(() => {
  for (const clean of cleanings.splice(0)) clean();
});
