import type { JsonObject } from '../data/json.js';
import { seedTables } from './demo/tables.js';
import { applyStep, type SeedChoice, type Step, type Tables } from './records.js';

/** The tables as the lines of a log make them. */
export interface Replay {
  take(line: JsonObject): void;
  /** Forgets everything, as before the first line. */
  restart(): void;
  /** Made when somebody first looks. */
  tables(): Tables;
  isSeeded(): boolean;
  isTouched(): boolean;
  seed(): SeedChoice;
}

/** Begins with `firstSeed` until a line says otherwise. */
export function newReplay(firstSeed: SeedChoice): Replay {
  let seed: SeedChoice | undefined;
  let tables: Tables | undefined;
  let isTouched = false;
  const built = (): Tables => {
    tables ??= seedTables(seed ?? firstSeed);
    return tables;
  };
  const begin = (next: SeedChoice | undefined) => {
    seed = next;
    tables = undefined;
    isTouched = false;
  };
  return {
    take(line) {
      // Lines are our own; a damaged one is refused when it is read.
      if (line['seed'] !== undefined) begin(line['seed'] as SeedChoice);
      for (const step of stepsOf(line)) {
        applyStep(built(), step);
        isTouched = true;
      }
    },
    restart: () => begin(undefined),
    tables: built,
    isSeeded: () => seed !== undefined,
    isTouched: () => isTouched,
    seed: () => seed ?? firstSeed,
  };
}

/** The steps of a log line; a seed line has none. */
export function stepsOf(line: JsonObject): readonly Step[] {
  return (line['steps'] ?? []) as readonly Step[];
}
