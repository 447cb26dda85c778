/** The parts that the commands on backups share. */
import { param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { Canvas } from '../../cli/views.js';
import { wrap } from '../../terminal/width.js';

/** The argument of a command that reads snapshots. */
export const snapshotArgument = param(nonEmptyText, 'a folder, or one snapshot', {
  placeholder: 'DIR[/SNAPSHOT]',
  completes: 'directory',
});

/** Returns a line as it fits the terminal; in a pipe or a file it stays whole. */
export function fitLine(
  line: string,
  { isTerminal, columns }: Canvas,
  indent = '',
): readonly string[] {
  const lines = isTerminal ? wrap(line, columns - indent.length) : [line];
  return lines.map((each) => indent + each);
}
