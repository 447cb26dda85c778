/**
 * Writes every generated file: `npm run generate`. With --check it writes nothing, lists the stale
 * files and exits 1. It reads the output of the build, so it runs after it.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { picture } from './picture.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const workbench = join(root, 'node_modules', '.cache', 'rosterctl');
/** Folders that contain only generated files. */
const generatedFolders = ['completions', 'man'];

const derived = await derive();
const stale = await staleFiles(derived);
if (process.argv.includes('--check')) {
  for (const path of stale) console.log(path);
  if (stale.length > 0) process.exitCode = 1;
} else {
  for (const path of stale) await put(path, derived[path]);
  console.log(stale.length > 0 ? `wrote ${stale.join(', ')}` : 'everything is up to date');
}

/** Returns the text of every generated file, by path. */
async function derive() {
  const table = JSON.parse(await text('dist/table.json'));
  const { documents, scriptsParts } = createRequire(import.meta.url)(
    join(workbench, 'describe.cjs'),
  );
  const pages = documents(table, await lastChange());
  return {
    ...pages,
    'package.json': withManPages(await text('package.json'), Object.keys(pages)),
    'THIRD-PARTY-NOTICES.md': await readFile(join(workbench, 'THIRD-PARTY-NOTICES.md'), 'utf8'),
    'docs/terminal.svg': await picture(),
    'docs/scripts.md': fill(await text('docs/scripts.md'), scriptsParts()),
  };
}

/** Returns package.json with the man pages among these files, which npm installs. */
function withManPages(manifest, files) {
  const names = files.filter((file) => file.startsWith('man/')).toSorted();
  const pages = names.map((name) => `    "${name}"`);
  return manifest.replace(/("man": )\[[^\]]*\]/, `$1[\n${pages.join(',\n')}\n  ]`);
}

/** Returns a page with each part between its markers. Throws if a marker is missing. */
function fill(template, parts) {
  return Object.entries(parts).reduce((page, [name, part]) => {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const from = page.indexOf(begin);
    const to = page.indexOf(end);
    if (from < 0 || to < from) throw new Error(`docs/scripts.md lacks ${begin} … ${end}`);
    return `${page.slice(0, from + begin.length)}\n\n${part}\n\n${page.slice(to)}`;
  }, template);
}

/** Returns the date of the newest version in the changelog, which dates the man page. */
async function lastChange() {
  const [, date] = /^## .*\((\d{4}-\d{2}-\d{2})\)/m.exec(await text('CHANGELOG.md')) ?? [];
  if (!date) throw new Error('CHANGELOG.md names no date');
  return date;
}

/** Returns the paths of files that differ or are no longer generated. */
async function staleFiles(wanted) {
  const there = await Promise.all(generatedFolders.map(filesIn));
  const differ = [];
  for (const [path, content] of Object.entries(wanted))
    if ((await text(path).catch(() => undefined)) !== content) differ.push(path);
  return [...differ, ...there.flat().filter((path) => !Object.hasOwn(wanted, path))];
}

async function filesIn(folder) {
  const names = await readdir(join(root, folder)).catch(() => []);
  return names.map((name) => `${folder}/${name}`);
}

async function put(path, content) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  if (content === undefined) await rm(join(root, path));
  else await writeFile(join(root, path), content);
}

function text(path) {
  return readFile(join(root, path), 'utf8');
}
