import { expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

const plain = { NO_COLOR: '1' };
const line = (words: string) => ['-p', 'sandbox', ...words.split(' ')];

test('a dry run, a preview and a report show a deletion as such, not as a change to null', async () => {
  const home = temporaryFolder();
  const see = async (words: string) => (await converse(home, line(words), [], plain)).printed;
  const one = await see('players delete player_0001 -n');
  expect(one).toContain('Would delete\r\n  player Nimbus Kite\r\n');
  const many = await see('players delete player_0001 player_0002 -n');
  expect(many).toContain('2 players to delete in org_demo (profile sandbox):\r\n');
  expect(many).toContain('player_0001  Nimbus Kite  would be deleted\r\n');
  const done = await see('players delete player_0001 player_0002 --yes --expect 2');
  expect(done).toContain('  player_0001  Nimbus Kite\r\n  player_0002  ');
  expect(done).toMatch(/✔ 2 deleted\. Run [0-9a-f]{6}\.\r\n$/);
  expect(one + many + done).not.toContain('→');
});

test('the JSON of a deletion has a change to null', async () => {
  const ran = await rosterctl(line('players delete player_0001 -n --json'));
  expect(JSON.parse(ran.stdout)).toMatchObject({
    changes: [{ id: 'player_0001', field: 'player', from: 'Nimbus Kite', to: null }],
  });
});
