import { test } from 'vitest';
import { expectSameEnd, expectSameView } from './support/same-end.js';

// More lines are in the slow tests.

test.each([
  '--help',
  'teams list --nope --json',
  'teams list',
  'teams get team_9',
  'teams update team_1 --name Foxes -n',
  'teams delete team_2 --yes --json',
  'docs upload note.txt',
])('%s ends in this process as in one of its own', expectSameEnd);

const change = '-p sandbox tryouts set-status app_0061 app_0062 --to rejected';

test.each([
  ['teams list', 100, []],
  ['teams get team_9', 40, []],
  [change, 80, [[/\(y\/N/, 'n\r']]],
  ['teams get', 80, [[/team_2[^]*Esc/, '\u001b[B\r']]],
] as const)('%s at %i columns shows what it shows at a terminal of the system', expectSameView);
