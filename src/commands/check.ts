/** `rosterctl check`: finds what waits, what contradicts itself and what would be refused; it only reads. */
import * as z from 'zod/mini';
import { withConnectionFlags } from '../cli/connection-flags.js';
import { defineCommand, flag, param, params, ValueWithExit } from '../cli/define.js';
import { parsedBy } from '../cli/filters.js';
import type { View } from '../cli/views.js';
import { parseDuration } from '../data/time.js';
import {
  defaultCodes,
  defaultPatience,
  requestedCodes,
  ruleCodes,
} from '../resources/findings/codes.js';
import type { Finding } from '../resources/findings/find.js';

const columns = ['code', 'ids', 'detail', 'look', 'fix'];

const view: View<readonly Finding[]> = {
  kind: 'records',
  columns,
  rowFields: columns,
  rows: (findings) => findings as never,
  idRows: (findings) => [...new Set(findings.flatMap(({ ids }) => ids))].map((id) => ({ id })),
  lines: () => [],
};

export default defineCommand({
  summary: 'Find what waits and what is wrong, such as people who applied twice',
  about:
    `It only reads. These rules run by default: ${defaultCodes.join(', ')}. ` +
    `These run when --only names them: ${requestedCodes.join(', ')}. ` +
    'duplicate.* compares the applications to one form; where the service shows no form, only those that are not decided. ' +
    'A rule is skipped, and stderr says so, if this key may not read a list (exit 7 with --strict, or if no rule could run), if the list may be incomplete, or if no record has the field. ' +
    'In a script, findings are rows of code, ids, detail, look (the command that shows it) and fix (the command that settles it, where there is only one answer).',
  examples: [
    ['What needs attention', ''],
    ['Only some rules', '--only waiting,duplicate.email --older-than 30d'],
    ['The rosters', '--only player.noTeam,team.empty'],
    ['In cron: silent when all is well', '-q'],
  ],
  calls: ['listTryouts', 'listPlayers', 'listTeams', 'listDocuments'],
  flags: {
    only: params(z.optional(z.array(z.enum(ruleCodes))), 'run these rules', {
      commaList: true,
      placeholder: 'CODE[,CODE]',
      group: 'selection',
    }),
    olderThan: param(
      z._default(parsedBy(parseDuration), parseDuration(defaultPatience)),
      `for waiting: how long is too long (${defaultPatience})`,
      { placeholder: 'AGE', group: 'selection' },
    ),
    exitCode: flag('exit 12 if something was found', { group: 'output' }),
  },
  view,
  async run(context, { only = defaultCodes, olderThan, exitCode }) {
    const { settings, flags, table } = context;
    const world = { now: context.now(), patience: olderThan };
    const { failureOfCheck, findProblems } = await import('../resources/findings/find.js');
    const result = await findProblems(context, only, world);
    for (const { codes, reason } of result.skips)
      context.message(`${codes.join(', ')} skipped: ${reason}.`);
    const { findings } = result;
    const failure = failureOfCheck(result, settings);
    const exitName =
      failure?.exitName ?? (exitCode && findings.length > 0 ? 'changesPending' : 'done');
    const { checkLines } = await import('../resources/findings/page.js');
    const command = (text: string) => withConnectionFlags(text, flags, table);
    return new ValueWithExit(findings, exitName, {
      failed: () => failure && { id: '', error: failure },
      lines(canvas) {
        if (findings.length === 0 && settings.quiet) return [];
        return checkLines(result, { world, all: settings.verbose, command }, canvas);
      },
    });
  },
});
