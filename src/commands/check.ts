/** `rosterctl check`: finds what has waited too long, what is inconsistent and what would be refused; it only reads. */
import * as z from 'zod/mini';
import { ValueWithExit } from '../cli/command-output.js';
import { defineCommand, flag, param, params } from '../cli/define.js';
import { sinceLastFlags } from '../cli/filters.js';
import { parsedBy } from '../cli/schemas.js';
import type { View } from '../cli/views.js';
import type { Cursor } from '../cursors/cursor.js';
import { parseDuration } from '../data/time.js';
import type { CheckResult, Finding } from '../resources/findings/find.js';
import { defaultCodes, defaultPatience, ruleCodes, ruleHelp } from '../resources/findings/rule.js';
import { checkAlone } from '../resources/list-command.js';

const columns = ['code', 'ids', 'detail', 'look', 'fix'];

const view: View<readonly Finding[]> = {
  columns,
  rowFields: columns,
  rows: (findings) => findings as never,
  idRows: (findings) => [...new Set(findings.flatMap(({ ids }) => ids))].map((id) => ({ id })),
  lines: () => [],
};

export default defineCommand({
  summary: 'Find what is waiting and what is wrong, such as people who applied twice',
  about:
    `Reads the lists and changes nothing. ${ruleHelp} ` +
    'If the service shows no form, only undecided applications are compared. ' +
    'A rule is skipped, and stderr says so, if this key cannot read a list or the service does not have it (exit 7 or 5 with --strict, or if no rule could run), if the list may be incomplete, or if no record has the field. ' +
    'With --since-last NAME, only new findings are printed; one that was fixed and comes back is new again. ' +
    'In a script, findings are rows of code, ids, detail, look (the command that shows it) and fix (the command that fixes it, if there is only one way).',
  examples: [
    ['What needs attention', ''],
    ['Only some rules', '--only waiting,duplicate.email --older-than 30d'],
    ['The rosters', '--only player.noTeam,team.empty'],
    ['In cron: silent when all is well', '-q'],
    ['In cron: each finding once', '-q --since-last mail'],
  ],
  calls: ['listTryouts', 'listPlayers', 'listTeams', 'listDocuments'],
  flags: {
    only: params(
      z.optional(z.array(z.enum(ruleCodes))),
      'run only these rules; --help lists them',
      {
        commaList: true,
        placeholder: 'CODE[,CODE]',
        group: 'selection',
      },
    ),
    olderThan: param(
      z._default(parsedBy(parseDuration), parseDuration(defaultPatience)),
      `for waiting: how long is too long (default ${defaultPatience})`,
      { placeholder: 'AGE', group: 'selection' },
    ),
    sinceLast: sinceLastFlags.sinceLast,
    initial: sinceLastFlags.initial,
    peek: sinceLastFlags.peek,
    exitCode: flag('exit 12 if something was found', { group: 'output' }),
  },
  view,
  async run(context, values, line) {
    const { only = defaultCodes, olderThan, exitCode, sinceLast, peek, initial } = values;
    const { settings, withConnection } = context;
    if (sinceLast === undefined) checkAlone({ peek, initial });
    const world = { now: context.now(), patience: olderThan };
    const finding = await import('../resources/findings/find.js');
    const open = sinceLast === undefined ? undefined : await import('../cursors/cursor.js');
    const cursor = await open?.openCursor(context, {
      name: sinceLast ?? '',
      resource: 'check',
      filter: open.typedFilter(line),
      peek,
      initial,
      noun: 'finding',
      plural: 'findings',
    });
    try {
      const result = await finding.findProblems(context, only, world);
      for (const { codes, reason } of result.skips)
        context.message(`${codes.join(', ')} skipped: ${reason}.`);
      for (const fix of finding.doubtsOf(result).fixes) context.note(fix);
      const failure = finding.failureOfCheck(result, settings);
      const findings = cursor ? newFindings(cursor, result) : result.findings;
      const { checkLines } = await import('../resources/findings/page.js');
      const options = {
        world,
        command: withConnection,
        all: settings.verbose,
        isNew: cursor !== undefined,
      };
      // A check that failed records nothing, so that the next one prints its findings again.
      const recorded = failure ? undefined : cursor?.output(findings, { exitCode });
      // The note on the first use says what was found and recorded.
      const isRecordedOnly = cursor?.isFirst === true && result.findings.length > 0;
      const found = exitCode && findings.length > 0 ? 'changesPending' : 'done';
      return new ValueWithExit(findings, failure?.exitName ?? recorded?.exitName ?? found, {
        ...(recorded?.more ?? { release: () => cursor?.close() }),
        failed: () => failure && { error: failure },
        lines: (canvas) =>
          findings.length === 0 && (settings.quiet || isRecordedOnly)
            ? []
            : checkLines({ ...result, findings }, options, canvas),
      });
    } catch (error) {
      cursor?.close();
      throw error;
    }
  },
});

/** Returns the findings that a cursor does not know; those of rules that did not run stay known. */
function newFindings(cursor: Cursor, { identities, skips }: CheckResult): readonly Finding[] {
  const skipped = new Set<string>(skips.flatMap(({ codes }) => codes));
  const entries = [...identities].map(([finding, id]) => ({ id, finding }));
  const isListed = (id: string) => skipped.has(id.slice(0, id.indexOf(':')));
  return cursor.choose(entries, isListed).map(({ finding }) => finding);
}
