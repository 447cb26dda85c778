/** The file of an import: its sheet, and the columns as far as they are known without the service. */
import type { BulkValues } from '../../bulk/invocation.js';
import { type KeyComparison, keyComparison } from '../../cli/column-aliases.js';
import type { Context } from '../../context.js';
import type { ResourceName } from '../../data/resources.js';
import type { NamedEncoding } from '../../files/text-decoder.js';
import { givenFields } from '../update.js';
import { type ColumnOptions, type FileColumn, fileColumns, keyColumn } from './columns.js';
import { openSheet, type Sheet } from './sheet.js';

/** The values of an import's command line. */
export interface ImportValues
  extends Pick<BulkValues, 'map' | 'ignoreColumns' | 'sheet' | 'takeFormulas'> {
  readonly file: string;
  readonly key: string;
  readonly createOnly?: boolean;
  readonly updateOnly?: boolean;
  readonly skipInvalid: boolean;
  readonly encoding: NamedEncoding | undefined;
  readonly teamColumn?: string | undefined;
  readonly teamField?: string | undefined;
  readonly set: readonly string[] | undefined;
  readonly setString: readonly string[] | undefined;
}

/** The flags of an import, beside those on its columns. */
export interface ImportOptions extends ColumnOptions {
  /** How keys compare. */
  readonly comparison: KeyComparison;
  readonly mode: 'create' | 'update' | 'both';
  readonly skipsInvalid: boolean;
  /** `--team-field`. */
  readonly teamField: string | undefined;
  /** The fields that flags set in every record, each with its flag. */
  readonly given: ReadonlyMap<string, string>;
}

/** The file of an import, read and checked as far as that goes without the service. */
export interface ImportFile {
  readonly sheet: Sheet;
  readonly columns: readonly FileColumn[];
  readonly key: FileColumn;
  readonly options: ImportOptions;
}

/** Reads the file and its header, without a request. Throws InputError, UsageError. */
export async function openFile(
  context: Context,
  resource: ResourceName,
  values: ImportValues,
): Promise<ImportFile> {
  const sheet = await openSheet(context, values.file, values);
  const options: ImportOptions = {
    resource,
    key: values.key,
    comparison: keyComparison(values.key, resource),
    map: values.map ?? [],
    ignoresUnknown: values.ignoreColumns ?? false,
    teamColumn: values.teamColumn,
    teamField: values.teamField,
    raw: sheet.isTyped || context.settings.csvRaw,
    isTyped: sheet.isTyped,
    mode: values.createOnly ? 'create' : values.updateOnly ? 'update' : 'both',
    skipsInvalid: values.skipInvalid,
    given: givenFields(values),
  };
  const columns = fileColumns(sheet.header.cells, options);
  return { sheet, columns, key: keyColumn(columns, options), options };
}
