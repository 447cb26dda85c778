/** The matrix: each table of shapes with the commands that it concerns. */
import type { Shape } from './cell.js';
import { decoys } from './decoys.js';
import { downloading, downloads } from './downloads.js';
import { envelopes } from './envelopes.js';
import { pagingStyles } from './paging.js';
import { type Command, listReads, singleReads } from './reads.js';
import { selections } from './selections.js';
import { answersTo } from './writes.js';
import { conversions, creates, deletes, updates } from './writing.js';

export interface Table {
  readonly name: string;
  readonly shapes: readonly Shape[];
  readonly commands: readonly Command[];
}

const lists = [...listReads, ...selections];

/** Every table. */
export const tables: readonly Table[] = [
  { name: 'paging', shapes: pagingStyles, commands: lists },
  { name: 'decoys', shapes: decoys, commands: lists },
  { name: 'envelopes', shapes: envelopes, commands: [...lists, ...singleReads] },
  { name: 'create', shapes: answersTo('create'), commands: creates },
  { name: 'update', shapes: answersTo('update'), commands: updates },
  { name: 'delete', shapes: answersTo('delete'), commands: deletes },
  { name: 'convert', shapes: answersTo('convert'), commands: conversions },
  { name: 'downloads', shapes: downloads, commands: downloading },
];
