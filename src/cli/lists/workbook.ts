/** Output as a workbook (`-o xlsx`): the records, and a sheet that says what they are and how to send them back. */
import type { Api } from '../../api/types.js';
import type { LocalContext } from '../../context.js';
import { labelOf, plainText } from '../../data/path.js';
import type { ResourceName } from '../../data/resources.js';
import { shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { writeWorkbook } from '../../sheets/write-workbook.js';
import { globalFlags } from '../global-flags.js';
import { documentedChoices } from '../record-fields.js';
import type { Sink } from '../sink.js';
import { type TypedLine, typedCommand, typedFlags } from '../typed-line.js';
import type { Rows } from '../writers.js';
import { collectTable, type TableColumns } from './csv.js';

/** The parts of a context that the sheet "About" is made of. */
export interface WorkbookContext
  extends Pick<LocalContext, 'flags' | 'note' | 'now' | 'settings' | 'signal' | 'withConnection'> {
  readonly line?: TypedLine | undefined;
  /** Absent for a command without a connection. */
  readonly api?: Pick<Api, 'organizationId'> | undefined;
}

/** Throws UsageError where a workbook would be shown on a terminal. */
export function refuseTerminal({ isTerminal }: Pick<Sink, 'isTerminal'>): void {
  if (isTerminal)
    throw new UsageError('A workbook is not text, so it is not shown on a terminal.', {
      hint: 'Send it to a file: --out FILE.xlsx',
    });
}

/**
 * Writes records as a workbook with all their columns; writes nothing before the last one has arrived.
 * Throws UsageError on a terminal, OutputError for what no sheet can hold, CancelledError after a signal.
 */
export async function writeRecords(
  sink: Sink,
  rows: Rows,
  table: TableColumns,
  context: WorkbookContext,
): Promise<void> {
  refuseTerminal(sink);
  const collected = await collectTable(rows, table, 'workbook', context.signal);
  const { records, columns, cellsOf, turn } = collected;
  const { resource } = table.view;
  const { isTooLargeToRead } = await writeWorkbook(
    {
      name: resource ?? 'rows',
      columns,
      rowCount: records.length,
      async *rows() {
        for (const record of records) {
          yield cellsOf(record);
          const waiting = turn(columns.length);
          if (waiting) await waiting;
        }
      },
      choicesOf: (column) => resource && documentedChoices(resource, column),
      labelOf: (row) => labelOf(records[row], plainText(records[row]?.['id'] ?? `row ${row + 1}`)),
      about: aboutLines(context, resource, columns, records.length),
    },
    (bytes) => sink.write(bytes),
  );
  if (isTooLargeToRead)
    context.note(
      'This workbook is too large to be sent back with --csv (64 MiB). For that, export fewer fields (--fields) or records, or use CSV.',
    );
}

/** The line that sends an edited workbook back; undefined if it has no ids. */
export function wayBack(
  { settings, withConnection }: Pick<WorkbookContext, 'settings' | 'withConnection'>,
  resource: ResourceName | undefined,
  columns: readonly string[],
): string | undefined {
  if (resource === undefined || !columns.includes('id')) return undefined;
  const back = `rosterctl ${resource} update --csv ${shellQuote(settings.out ?? 'FILE.xlsx')} --dry-run`;
  return withConnection(back);
}

function aboutLines(
  context: WorkbookContext,
  resource: ResourceName | undefined,
  columns: readonly string[],
  count: number,
): readonly (readonly [string, string])[] {
  const { line, flags, api } = context;
  const filter = line ? typedFlags(line) : [];
  const globals = typedFlags({ command: { flags: globalFlags }, values: { ...flags } });
  const back = wayBack(context, resource, columns);
  return [
    ...(api ? [['Organization', api.organizationId] as const] : []),
    ['Written', `${context.now().toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ...(line ? [['Command', [typedCommand(line), ...globals].join(' ')] as const] : []),
    ['Filter', filter.join(' ') || 'none'],
    ['Records', String(count)],
    ...(back !== undefined
      ? ([
          [
            'Send it back',
            `${back}\nThis shows what would change. To change it, leave out --dry-run.`,
          ],
          ['Edit', editing],
        ] as const)
      : ([['Send it back', 'Not possible: there is no column id.']] as const)),
  ];
}

const editing = [
  'Change cells of the first sheet and save it as .xlsx. Columns may be moved, hidden or removed; rows may be sorted or removed: a removed row does not change its record.',
  'An empty cell changes nothing; <clear> empties the field.',
  'Leave grey columns as they are: id names the record, updatedAt shows whether the record has changed since, and times (in UTC) are for reference only.',
].join('\n');
