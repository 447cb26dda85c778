/** Decides if a write takes effect, whatever its answer says. */
import type { ResourceName } from '../../data/resources.js';
import { type LogStep, numberOfId, type StoredRecord, type Tables } from '../records.js';
import type { State } from '../state.js';
import type { Shapes } from './shapes.js';
import type { AnswerName } from './table.js';

export interface Written {
  readonly answer: AnswerName;
  readonly resource: ResourceName;
  /** The changes that the handler asks for; those that remain are applied now. */
  readonly steps: LogStep[];
  readonly tables: Tables;
  readonly now: Date;
}

export interface Effects {
  /** Drops, keeps or changes the steps of a write as `<answer>.effect` says. */
  decide(written: Written): void;
  /** Applies what the reads so far did not show yet. */
  afterRead(state: State): Promise<void>;
}

export function createEffects(shapes: Shapes): Effects {
  const late: LogStep[] = [];
  return {
    decide({ answer, resource, steps, tables, now }) {
      const effect = shapes.value(`${answer}.effect`, resource);
      if (effect === 'none') steps.splice(0);
      if (effect === 'soft') steps.splice(0, steps.length, ...steps.map(softened(tables, now)));
      if (effect !== 'late') return;
      const held = steps.splice(0);
      for (const step of held) if (step[0] === 'put') reserve(tables, step[1], step[2]);
      late.push(...held);
    },
    async afterRead(state) {
      if (late.length === 0) return;
      const held = late.splice(0);
      await state.change((_, steps) => void steps.push(...held));
    },
  };
}

/** A deleted record stays, with the time of its deletion. */
function softened(tables: Tables, now: Date) {
  return (step: LogStep): LogStep => {
    const record = step[0] === 'delete' ? tables.records[step[1]].get(step[2]) : undefined;
    if (step[0] !== 'delete' || !record) return step;
    return ['put', step[1], { ...record, deletedAt: now.toISOString() }];
  };
}

/** No later create takes the id of a record that is not visible yet. */
function reserve(tables: Tables, resource: ResourceName, { id }: StoredRecord): void {
  tables.lastNumber[resource] = Math.max(tables.lastNumber[resource], numberOfId(id) ?? 0);
}
