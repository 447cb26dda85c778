import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeCsv } from '../../../src/cli/lists/csv.js';
import { readCsv } from '../../../src/data/csv-reader.js';
import type { JsonObject } from '../../../src/data/json.js';
import {
  fileColumns,
  type ImportOptions,
  keyColumn,
  mapColumns,
} from '../../../src/resources/import/columns.js';
import { RowReader } from '../../../src/resources/import/resolve.js';
import { KeyIndex } from '../../../src/resources/import/row-keys.js';
import { SeenFields } from '../../../src/resources/import/seen-fields.js';
import { records } from '../../bulk/random-records.js';
import { collected } from '../../support/collected.js';
import { outputContext } from '../../support/output-context.js';

/** The text that `-o csv` writes. */
async function exported(all: readonly JsonObject[]): Promise<string> {
  const table = { view: { columns: ['id'] } };
  return (await collected((sink) => writeCsv(sink, all, outputContext(), table))).toString();
}

/** What importing a text would change, row by row, and what is wrong with it. */
function importedInto(all: readonly JsonObject[], text: string) {
  const [header, ...rows] = readCsv(text);
  if (!header) throw new Error('no header');
  const options: ImportOptions = {
    resource: 'players',
    key: 'memberNo',
    comparison: 'exact',
    file: 'x.csv',
    raw: false,
    isTyped: false,
    encoding: undefined,
    skipInvalid: false,
    set: undefined,
    setString: undefined,
    given: new Map<string, string>(),
  };
  const sheet = { name: 'x.csv', header, rows, isTyped: false, digest: '' };
  const columns = fileColumns(header.cells, options);
  const key = keyColumn(columns, header, options);
  const seen = new SeenFields();
  const index = new KeyIndex('memberNo', 'exact');
  const ids = new Map<string, JsonObject>();
  for (const record of all) {
    seen.observe(record);
    index.add(record);
    ids.set(String(record['id']), record);
  }
  const problems: string[] = [];
  const service = ['id', 'organizationId', 'createdAt', 'updatedAt'];
  const known = { seen, service, team: undefined };
  const mapping = mapColumns(columns, key, options, known);
  problems.push(...mapping.problems.map(({ message }) => message));
  const organizationId = 'org_7';
  const world = { sheet, key, options, mapping, teams: undefined, index, ids, organizationId };
  const reader = new RowReader(world);
  const changes = rows.flatMap((row) => {
    const read = reader.read(row);
    problems.push(...read.problems.map(({ message }) => message));
    return Object.entries(read.row.own ?? {}).filter(
      ([name]) => !['key', 'updatedAt'].includes(name),
    );
  });
  return { problems, changes };
}

test('an export that is imported again changes nothing, whatever the records hold', async () => {
  await fc.assert(
    fc.asyncProperty(records, async (random) => {
      const all = random.map((record, at) => ({ ...record, memberNo: `00${at}` }));
      expect(importedInto(all, await exported(all))).toEqual({ problems: [], changes: [] });
    }),
    { numRuns: 300 },
  );
});
