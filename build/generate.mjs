// Writes every file that is derived: `npm run generate`. With --check it writes nothing, lists what
// is stale and exits 1. It reads what the build left, so it comes after the build.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { picture } from './picture.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const workbench = join(root, 'node_modules', '.cache', 'rosterctl');
/** Folders that hold nothing but what is written here. */
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

/** Path -> text of every derived file. */
async function derive() {
  const table = JSON.parse(await text('dist/table.json'));
  const { documents, readmeParts } = createRequire(import.meta.url)(
    join(workbench, 'describe.cjs'),
  );
  return {
    ...documents(table, await lastChange()),
    'THIRD-PARTY-NOTICES.md': await readFile(join(workbench, 'THIRD-PARTY-NOTICES.md'), 'utf8'),
    'docs/terminal.svg': await picture(),
    'README.md': fill(await text('README.md'), readmeParts()),
  };
}

/** The README with each part set between its markers. Throws when a marker is missing. */
function fill(readme, parts) {
  return Object.entries(parts).reduce((page, [name, part]) => {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const from = page.indexOf(begin);
    const to = page.indexOf(end);
    if (from < 0 || to < from) throw new Error(`README.md lacks ${begin} … ${end}`);
    return `${page.slice(0, from + begin.length)}\n\n${part}\n\n${page.slice(to)}`;
  }, readme);
}

/** The date of the newest entry of the changelog: the man page is as old as that. */
async function lastChange() {
  const [date] = /\d{4}-\d{2}-\d{2}/.exec(await text('CHANGELOG.md')) ?? [];
  if (!date) throw new Error('CHANGELOG.md names no date');
  return date;
}

/** What differs from the files as they are; a file that nothing derives any more is stale too. */
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
