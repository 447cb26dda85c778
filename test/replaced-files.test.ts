import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allChunks, gone, install, replaced, sentence, start } from './support/installed.js';

// Two of the cases of the slow tests.

test('a command that starts on incomplete files says so: chunks that are gone', () => {
  const installed = install();
  allChunks((path) => rmSync(path))(installed);
  expect(start(installed, '-p sandbox teams list')).toEqual([1, '', sentence]);
});

test('a change during which the files are replaced prints its report', async () => {
  const { run } = await replaced(gone);
  const ran = await run('players update player_1 player_2 --name Bea --yes');
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('2\tplayer_2\tchanged')]);
});
