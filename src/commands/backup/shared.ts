/** The parts that the commands on backups share. */
import * as z from 'zod/mini';
import { param } from '../../cli/define.js';
import type { Canvas } from '../../cli/views.js';
import { wrap } from '../../terminal/width.js';

/** A folder, a snapshot or a file, as typed. */
export const pathText = z.string().check(z.minLength(1, 'must not be empty'));

/** The argument of a command that reads snapshots. */
export const snapshotArgument = param(pathText, 'a folder, or one snapshot', {
  placeholder: 'DIR[/SNAPSHOT]',
  completes: 'directory',
});

/** Returns a line as it fits the terminal; in a pipe or a file it stays whole. */
export function fitLine(line: string, { isTerminal, columns }: Canvas): readonly string[] {
  return isTerminal ? wrap(line, columns) : [line];
}
