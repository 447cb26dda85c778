/** Replays the lines of a log: demo data, then step by step every change. */
import type { JsonObject } from '../data/json.js';
import { seedTables } from './demo/tables.js';
import { applyStep, type SeedChoice, type Step, type Tables } from './records.js';

export interface Replay {
  apply(line: JsonObject): void;
  /** Forgets everything, as before the first line. */
  restart(): void;
  /** Made when first asked for. */
  tables(): Tables;
  isSeeded(): boolean;
  isChanged(): boolean;
  seed(): SeedChoice;
}

/** Starts with the demo data of `firstSeed`, until a line names another. */
export function newReplay(firstSeed: SeedChoice): Replay {
  let seed: SeedChoice | undefined;
  let made: Tables | undefined;
  let isChanged = false;
  const tables = (): Tables => {
    made ??= seedTables(seed ?? firstSeed);
    return made;
  };
  const start = (next: SeedChoice | undefined) => {
    seed = next;
    made = undefined;
    isChanged = false;
  };
  return {
    apply(line) {
      // Lines are our own; a damaged one is refused when it is read.
      if (line['seed'] !== undefined) start(line['seed'] as SeedChoice);
      for (const step of stepsOf(line)) {
        applyStep(tables(), step);
        isChanged = true;
      }
    },
    restart: () => start(undefined),
    tables,
    isSeeded: () => seed !== undefined,
    isChanged: () => isChanged,
    seed: () => seed ?? firstSeed,
  };
}

/** The steps of a log line; a line that names demo data has none. */
export function stepsOf(line: JsonObject): readonly Step[] {
  return (line['steps'] ?? []) as readonly Step[];
}
