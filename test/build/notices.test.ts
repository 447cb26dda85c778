import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/run.js';

interface Notices {
  readonly notices: (moduleIds: readonly string[], root: string) => Promise<string>;
}
const script = new URL('../../build/notices.mjs', import.meta.url).href;
const { notices } = (await import(script)) as Notices;
const root = temporaryFolder();

test('each bundled package is listed once, by name, with the text of its licence', async () => {
  const one = install('node_modules/@scope/one', { license: 'ISC' }, 'LICENSE');
  const inner = install(
    'node_modules/@scope/one/node_modules/inner',
    { license: 'MIT' },
    'license.md',
  );
  const text = await notices(
    [
      join(one, 'index.js'),
      join(one, 'lib/deep.js'),
      join(inner, 'a.js'),
      join(root, 'src/main.ts'),
    ],
    root,
  );
  expect(text.match(/^- .*$/gm)).toEqual(['- @scope/one 1.2.3, ISC', '- inner 1.2.3, MIT']);
  expect(text).toContain('## inner 1.2.3\n\n```text\nterms of inner\n```');
});

test('the parser that undici carries is listed with its own author', async () => {
  const undici = install('node_modules/undici', { license: 'MIT' }, 'LICENSE');
  const parser = join(undici, 'lib/llhttp/llhttp_simd-wasm.js');
  const text = await notices([join(undici, 'index.js'), parser], root);
  expect(text.match(/^- .*$/gm)).toEqual([
    '- llhttp, MIT, inside undici 1.2.3',
    '- undici 1.2.3, MIT',
  ]);
  expect(text).toMatch(/^## llhttp, inside undici 1\.2\.3$/m);
  expect(text).toContain('Copyright Fedor Indutny, 2018.');
  expect(await notices([join(undici, 'index.js')], root)).not.toContain('llhttp');
});

test('a bundled package without a licence stops the build, naming it', async () => {
  const unnamed = install('node_modules/unnamed', {}, 'LICENSE');
  await expect(notices([join(unnamed, 'index.js')], root)).rejects.toThrow(
    /unnamed 1\.2\.3 names no/,
  );
  const textless = install('node_modules/textless', { license: 'MIT' }, 'README.md');
  await expect(notices([join(textless, 'index.js')], root)).rejects.toThrow(
    /textless 1\.2\.3 ships no/,
  );
});

/** A package's folder as npm leaves it. */
function install(path: string, manifest: object, file: string): string {
  const folder = join(root, path);
  const name = path.split('node_modules/').at(-1) ?? '';
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, version: '1.2.3', ...manifest }),
  );
  writeFileSync(join(folder, file), `terms of ${name}\n`);
  return folder;
}
