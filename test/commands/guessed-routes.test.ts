import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const guess = /DELETE \/players\/\{playerId\} is a guess/g;

test.each([
  ['player_0001', '(y/N)', 'y\r'],
  ['player_0001 player_0002', 'Type the number to confirm:', '2\r'],
] as const)(
  'the note about the assumed route precedes the question whether to delete %s',
  async (ids, question, answer) => {
    const line = ['-p', 'sandbox', 'players', 'delete', ...ids.split(' ')];
    const answers = [[/\(y\/N\)|Type the number/, answer]] as const;
    const { shown } = await converse(temporaryFolder(), line, answers, {}, 300);
    expect(shown.match(guess)).toHaveLength(1);
    expect(shown).toContain(question);
    expect(shown.search(guess)).toBeLessThan(shown.indexOf(question));
  },
);

test.each([['player_0001'], ['player_0001 player_0002']])(
  'a dry run that deletes %s notes the assumed route, and how to set it',
  async (ids) => {
    const ran = await rosterctl(`-p sandbox players delete ${ids} --dry-run`);
    expect(ran.stderr.match(guess)).toHaveLength(1);
    expect(ran.stderr).toContain('config set endpoints.players.delete "DELETE /players/{id}"');
    const quiet = await rosterctl(`-p sandbox players delete ${ids} --dry-run --quiet`);
    expect(quiet.stderr).not.toMatch(guess);
    const named = `--route 'DELETE /players/{id}'`;
    const own = await rosterctl(`-p sandbox players delete ${ids} --dry-run ${named}`);
    expect(own.stderr).not.toMatch(guess);
  },
);
