import { test } from 'vitest';
import { expectSameEnd, expectSameView } from './support/same-end.js';

test.each([
  'teams --help',
  'help journal',
  '',
  '--version',
  'teams lst',
  'teams list -o csv',
  'teams list --json',
  'teams list -o xlsx',
  'teams list --fields id,name --out teams.csv',
  'teams get team_1 --verbose',
  'teams get --json team_9',
  'teams update team_1 --name Foxes',
  'teams delete team_2',
  'players create --name Mira',
  'teams create --input -',
  'docs upload -',
  'teams list --max-time 0.5',
  'config set pageSize 50',
  'config list --json',
  'runs list',
  'doctor',
  'auth status',
  'api teams --debug',
  '-p sandbox tryouts list --json',
])('%s ends in this process as in one of its own', expectSameEnd);

const change = '-p sandbox tryouts set-status app_0061 app_0062 --to rejected';

test.each([
  ['teams list', 30, []],
  ['teams get team_1', 60, []],
  ['teams update team_1 --name Foxes -n', 80, []],
  [change, 80, [[/\(y\/N/, 'y\r']]],
  ['teams get', 80, [[/team_2[^]*Esc/, '\u001b']]],
] as const)('%s at %i columns shows what it shows at a terminal of the system', expectSameView);
