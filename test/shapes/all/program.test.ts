import { describe, expect, test } from 'vitest';
import { rosterctl } from '../../support/run.js';
import { resultOf, spread } from '../run.js';

// The built program does what its parts do in one process.

describe.concurrent('as processes', () => {
  for (const [shape, command] of spread(100))
    test(`${shape.table}: ${shape.name}: ${command.name}`, async ({ task }) => {
      const program = await resultOf(shape, command, rosterctl);
      const { verdict } = await resultOf(shape, command);
      expect([program.verdict, program.why]).toEqual([verdict, expect.anything()]);
      task.meta.processes = 1;
    });
});
