import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.js';
import { digestOf } from '../../src/data/digest.js';
import { CancelledError } from '../../src/errors.js';
import { sha256OfFile } from '../../src/files/input-file.js';
import { uploadRows } from '../../src/uploads/rows.js';
import { temporaryFolder } from '../support/run.js';

test('a signal ends the inspection of many short files', async () => {
  const folder = temporaryFolder();
  const paths = Array.from({ length: 400 }, (_, index) => join(folder, `${index}.txt`));
  for (const path of paths) writeFileSync(path, 'text');
  const stop = new AbortController();
  let inspected = 0;
  const settings = {
    // Read for each file.
    get overrides() {
      inspected += 1;
      if (inspected === 10) setImmediate(() => stop.abort());
      return {};
    },
  };
  const context = { signal: stop.signal, settings, note: () => {} } as unknown as Context;
  const values = { paths, recursive: false, name: undefined, contentType: undefined };
  const rows = uploadRows(context, { ...values, failFast: false });
  await expect(rows).rejects.toBeInstanceOf(CancelledError);
  expect(inspected).toBeLessThan(400);
});

test('a file that is deleted after its inspection fails alone', async () => {
  const folder = temporaryFolder();
  const paths = ['a.txt', 'b.txt', 'c.txt'].map((name) => join(folder, name));
  for (const path of paths) writeFileSync(path, '');
  let notes = 0;
  const context = {
    signal: new AbortController().signal,
    settings: { overrides: {} },
    // Of each empty file; the last one comes when all are inspected.
    note() {
      notes += 1;
      if (notes === 3) rmSync(join(folder, 'b.txt'));
    },
  } as unknown as Context;
  const values = { paths, recursive: false, name: undefined, contentType: undefined };
  const { rows } = await uploadRows(context, { ...values, failFast: false });
  expect(rows.map(({ id }) => id)).toEqual(paths);
});

test('files with the same bytes have the digest by which an earlier version kept their run', async () => {
  const folder = temporaryFolder();
  const paths = ['a.txt', 'b.txt'].map((name) => join(folder, name));
  for (const path of paths) writeFileSync(path, 'one');
  const context = {
    signal: new AbortController().signal,
    settings: { overrides: {} },
    note: () => {},
  } as unknown as Context;
  const values = { paths, recursive: false, name: undefined, contentType: undefined };
  const { rows, digest } = await uploadRows(context, { ...values, failFast: false });
  const facts = rows.map(({ own }) => {
    const { hasTwin, ...earlier } = own ?? {};
    expect(hasTwin).toBe(true);
    return earlier;
  });
  expect(digest).toBe(digestOf(facts));
});

test('a signal ends the reading of short files', async () => {
  const path = join(temporaryFolder(), 'a.txt');
  writeFileSync(path, 'text');
  await expect(sha256OfFile(path, AbortSignal.abort())).rejects.toBeInstanceOf(CancelledError);
});
