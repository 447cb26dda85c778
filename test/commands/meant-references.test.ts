import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { converse } from '../support/converse.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { recordingService } from '../support/service.js';

// A bare word is an id. One that looks like something else is answered with what to type.

const home = temporaryFolder();
const sandbox = (line: string, run: typeof rosterctl = inProcess) =>
  run(`-p sandbox ${line}`, { home });
const playerOf = async () =>
  JSON.parse((await sandbox('players get player_0001 --json')).stdout) as Record<string, string>;
const meaning = (text: string) =>
  `\nDid you mean ${text.includes(' ') ? `'${text}'` : text} (player_0001)`;

describe('a word that is no id, but looks like', () => {
  test.each([
    ['tryouts get soraya@example.org', 'Did you mean email:soraya@example.org?'],
    ["players update 'Nimbus Kite' --name X", "Did you mean 'name:Nimbus Kite'?"],
    ['tryouts get emial:soraya@example.org', 'Did you mean email:soraya@example.org?'],
    ["teams get 'Blue Foxes'", "Did you mean 'name:Blue Foxes'?"],
    ["docs get 'Team rules.pdf'", "Did you mean 'name:Team rules.pdf'?"],
  ])('a reference gets it as a hint: %s', async (line, hint) => {
    const ran = await sandbox(line);
    expect([ran.code, ran.stderr.split('\n')]).toEqual([5, expect.arrayContaining([hint])]);
  });

  test.each([
    ['teams get lantern', 'To search: rosterctl -p sandbox teams list --search lantern'],
    ["docs get ru'les", `To search: rosterctl -p sandbox documents list --search 'ru'\\''les'`],
    ['players update mira --name X', 'To search: rosterctl -p sandbox players list --search mira'],
    ['players list --team zork', 'To search: rosterctl -p sandbox teams list --search zork'],
    ['teams get team_9999', 'See: rosterctl -p sandbox teams list'],
    ['teams get id:lantern', 'See: rosterctl -p sandbox teams list'],
  ])('a word without a digit is searched for: %s', async (line, hint) => {
    const ran = await inProcess(
      line.includes("'") ? ['-p', 'sandbox', ...line.split(' ')] : `-p sandbox ${line}`,
      { home },
    );
    expect([ran.code, ran.stderr.trimEnd().split('\n').at(-1)]).toEqual([5, hint]);
  });

  test.each([
    ['tryouts', 'Application " app_0001" was not found'],
    ['documents', 'The document " app_0001" is not in the list of documents.'],
  ])('an id with a space is quoted: %s', async (noun, message) => {
    const ran = await inProcess(['-p', 'sandbox', noun, 'get', ' app_0001'], { home });
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(message)]);
  });

  test.each(['tryouts get app_9999', 'teams get soraya@example.org', 'players get x:y'])(
    'an id gets none: %s',
    async (line) => {
      const ran = await sandbox(line);
      expect([ran.code, ran.stderr]).toEqual([5, expect.not.stringContaining('Did you mean')]);
    },
  );

  test('the hint takes no further request', async () => {
    const missing = { status: 404, json: { error: 'notFound' } };
    const service = await recordingService(() => missing);
    await rosterctl('tryouts get ann@example.org', { env: service.env });
    expect(service.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});

describe('person', () => {
  test('says how to name somebody who is there', async () => {
    const { name = '', email = '' } = await playerOf();
    const byEmail = await sandbox(`person ${email}`, rosterctl);
    expect([byEmail.code, byEmail.stderr]).toEqual([
      5,
      expect.stringContaining(`\nDid you mean email:${email}?\n`),
    ]);
    const byName = await sandbox(`person '${name}'`);
    expect(byName.stderr).toContain(`\nDid you mean 'name:${name}'?\n`);
  });

  test('names the nearest where a reference matches nobody', async () => {
    const { name = '', email = '' } = await playerOf();
    for (const text of [`name:${name}`, `email:${email}`]) {
      const ran = await sandbox(`person '${text.slice(0, -2)}${text.slice(-1)}'`);
      expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(meaning(text))]);
    }
  });

  test('looks in both lists for what nobody answers to', async () => {
    const { stderr } = await sandbox('person zork');
    expect(stderr).toContain('\nLook for them: rosterctl -p sandbox tryouts list --search zork\n');
    expect(stderr).toContain('\nOr: rosterctl -p sandbox players list --search zork\n');
  });

  test('without an argument asks for a person', async () => {
    const line = '-p sandbox person'.split(' ');
    const { shown } = await converse(home, line, [[/Which person\?/, '\u0003']]);
    expect(shown).toContain('Which person?');
  });
});

test('backup show suggests the reference', async () => {
  mkdirSync(join(home, 'work'), { recursive: true });
  const dir = join(home, 'work', 'backups');
  await sandbox(`backup create ${dir} --no-files`);
  const { email = '' } = await playerOf();
  const ran = await sandbox(`backup show ${dir} ${email}`, rosterctl);
  expect([ran.code, ran.stderr]).toEqual([
    5,
    expect.stringContaining(`\nDid you mean email:${email}?\n`),
  ]);
  const near = await sandbox(`backup show ${dir} email:${email.slice(1)}`);
  expect([near.code, near.stderr]).toEqual([5, expect.stringContaining(meaning(`email:${email}`))]);
});

test('--team with the name of a team, or nearly so, suggests it with its id', async () => {
  const team = JSON.parse((await sandbox('teams get team_0002 --json')).stdout) as { name: string };
  for (const typed of [team.name, team.name.slice(0, -2) + team.name.slice(-1)]) {
    const ran = await sandbox(`players list --team '${typed}'`);
    expect([ran.code, ran.stderr]).toEqual([
      5,
      expect.stringMatching(
        new RegExp(
          `No team has the id ${typed}\\.\nDid you mean '?name:${team.name}'? \\(team_0002\\)`,
        ),
      ),
    ]);
  }
});
