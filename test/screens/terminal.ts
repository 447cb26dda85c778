/** Screens of the awkward club at a terminal, and what must hold of every one. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { wholeConversation } from '../support/converse.js';
import { converseInside } from '../support/converse-inside.js';
import { splitWords, temporaryFolder } from '../support/run.js';
import { awkwardClub, awkwardPlan } from './club.js';
import { type Reading, readBack } from './emulator.js';
import type { View } from './views.js';

export type Screen = Reading & { readonly shown: string };

type Environment = Readonly<Record<string, string>>;

type Draw = (view: View, columns: number, own?: Environment) => Promise<Screen>;

export interface Terminal {
  readonly home: string;
  readonly env: Environment;
  /** The screen after a line at a terminal of this width. */
  readonly screenOf: Draw;
  /** The same in the process of the test. */
  readonly screenInside: Draw;
}

/** Starts the club's service, and makes a home folder that knows it. */
export async function openTerminal(): Promise<Terminal> {
  const service = await awkwardClub();
  const home = homeOfClub(service.baseUrl);
  const { ROSTERCTL_API_KEY = '' } = service.env;
  const env = { ROSTERCTL_API_KEY, ROSTERCTL_PAGER: 'cat' };
  const drawnBy =
    (talk: typeof wholeConversation): Draw =>
    async ({ line, answers = [], changesHome }, columns, own = {}) => {
      const typed = answers.map(
        ([question, text]) => [question, text.replace('SERVICE', service.baseUrl)] as const,
      );
      const at = changesHome ? homeOfClub(service.baseUrl) : home;
      const { shown } = await talk(
        at,
        splitWords(line.replace('HOME', at)),
        typed,
        { ...env, ...own },
        columns,
      );
      return { shown, ...(await readBack(shown, columns)) };
    };
  return {
    home,
    env,
    screenOf: drawnBy(wholeConversation),
    screenInside: drawnBy(converseInside),
  };
}

/** A home folder with two profiles, whose active one is `club`. */
function homeOfClub(baseUrl: string): string {
  const home = temporaryFolder();
  const folder = join(home, '.config', 'rosterctl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const profiles = {
    club: { baseUrl, organization: 'org_7' },
    second: { baseUrl, organization: 'org_8' },
  };
  const config = JSON.stringify({ activeProfile: 'club', profiles });
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 });
  writeFileSync(join(home, 'plan.json'), awkwardPlan(baseUrl));
  return home;
}

/** Expects that the terminal broke no line, that columns are aligned, and that the cursor is below. */
export function expectOrder({ isTable }: View, screen: Screen): void {
  const { broken, cursor, lines, grid } = screen;
  expect(broken).toEqual([]);
  expect(cursor).toEqual({ column: 0, line: lines.length, isVisible: true });
  if (isTable) expect(outOfColumn(grid)).toEqual([]);
  expect(unalignedMoves(grid)).toEqual([]);
}

/** The rows whose cells do not begin below the heads, in cells of the terminal. */
function outOfColumn([head = '', ...below]: readonly string[]): readonly string[] {
  const end = below.findIndex((line) => /^\d+ [a-z]|^\+\d+ field/.test(line));
  const rows = end < 0 ? below : below.slice(0, end);
  const starts = [...head.matchAll(/(?<=^|  )\S/g)].map(({ index }) => index);
  return rows.filter((row) =>
    starts.some((at) => !/^(?: {2})?\S$/.test(row.slice(Math.max(0, at - 2), at + 1))),
  );
}

/** The lines `app_1  Name … old → new` whose change begins elsewhere than that of the line above. */
function unalignedMoves(lines: readonly string[]): readonly string[] {
  const starts = lines.map((line) => (/^ *app_/.test(line) ? line.search(/ \w+ → /) : -1));
  return lines.filter((_, at) => {
    const [start = -1, above = -1] = [starts[at], starts[at - 1]];
    return start >= 0 && above >= 0 && start !== above;
  });
}

/** Replaces what differs from run to run; days of one and of two digits become the same. */
export function masked(line: string): string {
  return line
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\b\d{1,2} [A-Z][a-z]{2}( \d{4})?(,? )\d\d:\d\d/g, 'DD Mon$1$2hh:mm')
    .replaceAll(/\b\d{8}T\d{9}-(1-)?[0-9a-f]{6}/g, 'YYYYMMDDThhmmssfff-$1ffffff')
    .replaceAll(/(?<=\b(?:run|Run|undo|retry) )[0-9a-f]{6}/g, 'ffffff')
    .replaceAll(/(?<=\bhash )[0-9a-f]{8}/g, 'ffffffff')
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, 'hh:mm:ss')
    .replaceAll(/\b\d+ s (ahead|behind)/g, 'N s $1');
}
