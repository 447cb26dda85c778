import { describe, expect } from 'vitest';
import { wholeConversation } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { forbidden, hostileTexts, withoutColor } from '../support/hostile.js';
import { temporaryFolder } from '../support/run.js';
import { fault } from './support/case.js';
import { application, file, hostileWorld, player, team } from './support/world.js';

const half = (text: string) => text.toWellFormed();

const everywhere = (text: string, id = 'app_1') => ({
  ...application,
  id,
  name: text,
  email: text,
  status: text,
  discordUsername: text,
  internalNotes: text,
  formResponses: { [text]: text },
  gamerTags: [{ id: 'g', game: text, gamerTag: text, createdAt: text, updatedAt: text }],
  submittedAt: text,
  [text]: text,
});

const teamOf = (text: string, id = 'team_1') => ({ ...team, id, name: text, [text]: text });
const fileOf = (text: string, id = 'doc_1') => ({
  ...file,
  id,
  name: text,
  contentType: text,
  tags: [text],
});

/** A service whose every record and message is the hostile text. */
const spoken = (text: string) =>
  hostileWorld({
    api: ({ url, method }) => {
      const [path = ''] = url.split('?');
      const row = everywhere(text);
      if (path === '/v1/tryout-applications') return { json: { applications: [row] } };
      if (path === '/v1/tryout-applications/app_1') {
        if (method === 'GET') return { json: row };
        return { status: 400, json: { error: text, message: text } };
      }
      if (path === '/v1/teams/org_7') return { json: { teams: [teamOf(text)] } };
      if (path === '/v1/teams/org_7/team_1') return { json: { ...team, name: text, tag: [text] } };
      if (path === '/v1/players/org_7') return { json: { [text]: [player], other: [player] } };
      if (path === '/v1/documents/org_7') return { json: { documents: [fileOf(text)] } };
      return { status: 404, json: { error: text, message: text } };
    },
  });

/** A record for each hostile text. */
const all = (name: string, make: (text: string, id: string) => object) => ({
  json: hostileTexts.map((text, at) => make(text, `${name}_${at + 1}`)),
});

/** A service whose lists have a record for each hostile text. */
const listed = () =>
  hostileWorld({
    api: ({ url }) => {
      if (url.startsWith('/v1/tryout-applications')) return all('app', everywhere);
      if (url.startsWith('/v1/teams')) return all('team', teamOf);
      return all('doc', fileOf);
    },
  });

/** The texts whose row is not there or not harmless, by number. */
const harmfulRows = (
  lines: readonly string[],
  name: string,
  isHarmless: (row: string) => boolean,
) =>
  hostileTexts.flatMap((text, at) => {
    const row = lines.find((line) => new RegExp(`^${name}_${at + 1}\\b`).test(line));
    return row !== undefined && isHarmless(row) ? [] : [[at + 1, text.slice(0, 100), row]];
  });

/** How many of the texts may stand anywhere in a value; with the others its beginning or its length matters. */
const anywhere = 27;

/**
 * The texts as a value of a record: nine of those in one, each other alone. In lists, and in views that
 * cut a value, each has its own.
 */
const values = hostileTexts.flatMap((text, at): (readonly [name: string, text: string])[] => {
  if (at >= anywhere) return [[`text ${at + 1}`, text]];
  const nine = hostileTexts.slice(at, at + 9).join(' ');
  return at % 9 === 0 ? [[`texts ${at + 1} to ${at + 9}`, nine]] : [];
});

/** Views that people read: details, errors, dry runs and prompts; what a list says beside its rows. */
const views = [
  'tryouts get app_1',
  'tryouts update app_1 --status accepted',
  'tryouts update app_1 --status accepted --note x -n',
  'tryouts convert app_1',
  'tryouts convert app_1 -n',
  'teams get team_1',
  'teams delete team_1',
  'players list',
  'docs get doc_1',
  'docs download doc_1',
  'doctor',
  'tryouts list --debug -v',
  'players list --debug',
];

/** Texts whose views are shown by processes of their own. */
const asProcess = ['texts 1 to 9', 'text 1, where it is cut,'];

/** Views in which the end of nine texts is cut off. */
const cutting = ['tryouts stats', 'docs download doc_1 -n'];

describe('40 hostile texts in every view', () => {
  for (const [name, line] of [
    ['app', 'tryouts list'],
    ['team', 'teams list'],
    ['doc', 'docs list'],
  ] as const)
    fault('F059', `each text in a row of ${line}, in a pipe`, async (attack) => {
      const world = await listed();
      const { stdout, stderr } = await attack(line, { env: world.env });
      const rows = stdout.replaceAll('\t', ' ').split('\n');
      expect(harmfulRows(rows, name, machineSafe)).toEqual([]);
      expect(rows.length, 'a header, a row for each text, and the end').toBe(42);
      expect(machineSafe(stderr), JSON.stringify(stderr)).toBe(true);
    });

  const piped = [
    ...values.map((value) => [...value, views] as const),
    ...hostileTexts.map((text, at) => [`text ${at + 1}, where it is cut,`, text, cutting] as const),
  ];
  for (const [name, text, lines] of piped)
    fault('F059', `${name} in a pipe`, async (attack) => {
      const world = await spoken(text);
      for (const line of lines) {
        const inside = !asProcess.includes(name);
        const env = { ...world.env, ROSTERCTL_RETRIES: '0' };
        // In this process, a download would otherwise write into the folder of the tests.
        const saves = inside && line === 'docs download doc_1';
        const words = saves ? [...line.split(' '), '-D', temporaryFolder()] : line;
        const ran = await attack(words, { env, inside });
        // Tab-separated rows have tabs of our own.
        const shown = ran.stdout.replaceAll('\t', ' ') + ran.stderr;
        expect(machineSafe(shown), `${line}: ${JSON.stringify(shown.slice(0, 300))}`).toBe(true);
      }
    });

  fault('F059', 'each text in a row of tryouts list, in a terminal', async () => {
    const world = await listed();
    const shown = await onScreen('tryouts list', world.env);
    expect(harmfulRows(shown.split('\n'), 'app', screenSafe)).toEqual([]);
    expect(screenSafe(shown), aroundHarm(shown)).toBe(true);
  });

  for (const [name, text] of values)
    fault('F059', `${name} in a terminal`, async () => {
      const world = await spoken(text);
      for (const line of ['tryouts get app_1', 'teams delete team_1', 'players list']) {
        const inside = !asProcess.includes(name);
        const shown = await onScreen(line, world.env, inside ? converseInside : wholeConversation);
        expect(screenSafe(shown), `${line}: ${aroundHarm(shown)}`).toBe(true);
      }
    });
});

/**
 * A pipe gets complete values, without characters that control a terminal or the text direction.
 */
function machineSafe(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(
    text,
  );
}

function screenSafe(text: string): boolean {
  return !forbidden.test(text);
}

/** The harmful character of a text in the middle of what stands around it. */
function aroundHarm(text: string): string {
  const at = Math.max(0, text.search(forbidden) - 200);
  return JSON.stringify(text.slice(at, at + 400));
}

/** The control sequences of our own prompts: cursor, erasing, question mark. */
function withoutTerminalWork(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const moves = /\u001b\[(\?25[lh]|\?\d+[hl]|\d*[ABCDGK]|2?K|J|\d*J|\d*;?\d*H)/g;
  return (
    withoutColor(text)
      .replace(moves, '')
      .replace(/\r/g, '')
      // oxlint-disable-next-line no-control-regex
      .replace(/\u001b\[(0|22|39|49)?m/g, '')
  );
}

/** What a terminal gets, without its control sequences; a deletion is answered with `n`. */
async function onScreen(
  line: string,
  env: Record<string, string>,
  talk = wholeConversation,
): Promise<string> {
  const { shown } = await talk(
    temporaryFolder('screen'),
    line.split(' '),
    line.includes('delete') ? [[/Delete team/, 'n\r']] : [],
    { TERM: 'xterm-256color', ROSTERCTL_PAGER: 'cat', ...env },
  );
  return half(withoutTerminalWork(shown));
}
