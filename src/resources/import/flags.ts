/** The argument and the flags of an import. */
import * as z from 'zod/mini';
import { bulkFlags, csvFlags } from '../../bulk/invocation.js';
import { flag, param } from '../../cli/define.js';
import { fieldFlags } from '../../cli/field-flags.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { namedEncodings } from '../../files/text-decoder.js';

/** The file of an import. */
export const importArgs = {
  file: param(nonEmptyText, 'the CSV, .xlsx or .ndjson to import', {
    placeholder: 'FILE|-',
    completes: 'file',
  }),
};

const { if: _, ...sending } = bulkFlags;

/** The flags of an import. */
export const importFlags = {
  key: param(nonEmptyText, 'the field by which a row finds its record, such as email', {
    placeholder: 'FIELD',
    ifMissing: 'Which field tells the rows apart? Add --key FIELD.',
    group: 'selection',
    completes: 'field',
  }),
  createOnly: flag('skip rows whose record is there', { group: 'selection' }),
  updateOnly: flag('skip rows whose record is missing', { group: 'selection' }),
  sheet: csvFlags.sheet,
  takeFormulas: csvFlags.takeFormulas,
  map: csvFlags.map,
  ignoreColumns: csvFlags.ignoreColumns,
  skipInvalid: flag('import the other rows although some are invalid', { group: 'safety' }),
  encoding: param(
    z.optional(z.enum(namedEncodings)),
    'the encoding, if it is not UTF-8 or UTF-16',
    {
      group: 'selection',
      rare: true,
    },
  ),
  set: fieldFlags.set,
  setString: fieldFlags.setString,
  ...sending,
};

/** The flags for records that belong to teams. */
export const teamColumnFlags = {
  teamColumn: param(z.optional(nonEmptyText), 'the column that holds names of teams', {
    placeholder: 'COLUMN',
    group: 'selection',
  }),
  teamField: param(z.optional(nonEmptyText), "the field for their ids, such as 'teamIds[]'", {
    placeholder: 'FIELD',
    group: 'selection',
    completes: 'field',
    rare: true,
  }),
};
