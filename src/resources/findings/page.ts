/** The findings of `rosterctl check` as a person reads them: by rule, with names and what to type. */
import type { Canvas } from '../../cli/views.js';
import { quotedId } from '../../data/references.js';
import { addTo } from '../../data/sorting.js';
import { countOf, groupedNumber, nameFirstFew } from '../../data/text.js';
import { singleLine } from '../../terminal/safe-text.js';
import { hangingLines, wrapPageLine } from '../../terminal/whole-words.js';
import type { CheckResult, Finding } from './find.js';
import type { RuleCode, RuleWorld } from './rule.js';
import { findingRules } from './rules.js';

interface PageOptions {
  readonly world: RuleWorld;
  /** True if only findings are left that were not told before. */
  readonly isNew: boolean;
  /** Lists every finding instead of the first few of each rule. */
  readonly all: boolean;
  /** Names the connection in a command. */
  readonly command: (text: string) => string;
}

/** Renders the findings as lines; says so if there are none. */
export function checkLines(
  { findings, isAllSkipped, read, unread }: CheckResult,
  options: PageOptions,
  canvas: Canvas,
): readonly string[] {
  const byCode = new Map<RuleCode, Finding[]>();
  for (const finding of findings) addTo(byCode, finding.code, finding);
  const width = Math.max(0, ...[...byCode.keys()].map((code) => code.length));
  const groups = [...byCode].flatMap(([code, found]) =>
    groupLines(code, found, width, options, canvas),
  );
  if (findings.length > 0) return groups;
  if (isAllSkipped) return ['No rule could run.'];
  const whole = [...read].filter(([resource]) => !unread.has(resource));
  const counts = whole.map(([resource, count]) => countOf(count, resource));
  return [`No ${options.isNew ? 'new ' : ''}findings in ${counts.join(', ') || 'empty lists'}.`];
}

/** A rule with what it found, and the commands that show and settle it. */
function groupLines(
  code: RuleCode,
  found: readonly Finding[],
  width: number,
  { world, all, command }: PageOptions,
  { paint, columns, isTerminal }: Canvas,
): readonly string[] {
  const rule = findingRules[code];
  const shown = all ? found : found.slice(0, nameFirstFew);
  const more = found.length - shown.length;
  const isShared = found.some(({ ids }) => ids.length > 1);
  const ids = shown.flatMap((finding) => finding.ids.map(quotedId));
  const see = rule.listAll?.(world) ?? `rosterctl ${rule.resource} get ${ids.join(' ')}`;
  const fix = more > 0 ? rule.fixAll : rule.fix && `${rule.fix} ${ids.join(' ')}`;
  const wrapped = (lines: readonly string[]) =>
    isTerminal ? lines.flatMap((line) => wrapPageLine(line, columns)) : lines;
  const commands = [
    ...(more > 0 ? [paint.dim(`  and ${groupedNumber(more)} more (-v lists all)`)] : []),
    ...(isShared ? [] : [`  See: ${singleLine(command(see))}`]),
    ...(fix === undefined ? [] : [`  Fix: ${singleLine(command(fix))}`]),
  ];
  const head = hangingLines(`${code.padEnd(width)}  `, rule.title(found.length, world), columns);
  const [first = '', ...rest] = isTerminal ? head : [head.join(' ')];
  return [
    paint.bold(first),
    ...rest.map(paint.bold),
    ...shown.flatMap((finding) =>
      isShared
        ? wrapped([`  ${singleLine(finding.detail)}`, `    See: ${singleLine(finding.look)}`])
        : findingLines(finding, isTerminal ? columns : Infinity, paint),
    ),
    ...wrapped(commands),
  ];
}

/** A finding about one record; what does not fit continues beside its id. */
function findingLines({ ids, detail }: Finding, columns: number, paint: Canvas['paint']) {
  const id = singleLine(ids.join(' '));
  const [first = '', ...rest] = hangingLines(`  ${id}  `, singleLine(detail), columns);
  return [`  ${paint.dim(id)}${first.slice(id.length + 2)}`, ...rest];
}
