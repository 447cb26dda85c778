// Does the catalogue notice when a defence is gone? Each mutant is a copy of the tree with one
// defence taken out; the cases that guard it must pass on the untouched copy and fail on the mutant.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutants } from './mutant-list.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dir = await mkdtemp(join(tmpdir(), 'rosterctl-mutants-'));

// `npm run faults:mutants journal`: only those whose file or name has the word.
const wanted = mutants.filter(({ name, file }) =>
  `${name} ${file}`.includes(process.argv[2] ?? ''),
);
const sound = new Map();
let whole;
let failed = 0;
try {
  whole = await program('untouched');
  for (const mutant of wanted) {
    const { name, file, from, to, cases } = mutant;
    const isSound = await passesWhole(cases);
    const spoilt = await program(name.replaceAll(' ', '-'), async (copy) => {
      const path = join(copy, file);
      const text = await readFile(path, 'utf8');
      if (!text.includes(from)) throw new Error(`${file} has changed: mend the mutant "${name}"`);
      await writeFile(path, text.replaceAll(from, to));
    });
    const survived = await passes(spoilt, cases);
    const good = isSound && !survived;
    if (!good) failed += 1;
    const verdict = !isSound ? 'THE CASES FAIL WITHOUT IT' : survived ? 'SURVIVED' : 'caught';
    console.log(`  ${name.padEnd(34)} ${verdict}`);
  }
} finally {
  await rm(dir, { recursive: true, force: true });
}
console.log(`${wanted.length - failed} of ${wanted.length} mutants caught`);
process.exitCode = failed === 0 ? 0 : 1;

/** A built copy of the tree, changed before it is built; the path of its launcher. */
async function program(name, change) {
  const copy = join(dir, name);
  const without = /^(node_modules|dist|\.git|bench|\.build-.*)(\/|$)/;
  await cp(root, copy, {
    recursive: true,
    filter: (path) => !without.test(path.slice(root.length)),
  });
  // Package by package: the build keeps a folder of its own beside them.
  await mkdir(join(copy, 'node_modules'));
  for (const each of await readdir(join(root, 'node_modules')))
    if (!/^\.(cache|vite)/.test(each))
      await symlink(join(root, 'node_modules', each), join(copy, 'node_modules', each));
  await change?.(copy);
  const built = await run(process.execPath, ['build/build.mjs'], copy);
  if (built.code !== 0) throw new Error(`the copy "${name}" does not build:\n${built.text}`);
  return join(copy, 'bin', 'rosterctl');
}

/** Several mutants have the same cases: these are run once. */
async function passesWhole(cases) {
  const key = cases.join();
  sound.set(key, sound.get(key) ?? (await passes(whole, cases)));
  return sound.get(key);
}

async function passes(launcher, [file, title]) {
  const words = ['vitest', 'run', '--config', 'vitest.faults.config.ts'];
  const env = { FAULTS_PROGRAM: launcher, CRASH_KILLS: '80' };
  const { code, text } = await run(
    'npx',
    [...words, '--reporter=dot', file, '-t', title],
    root,
    env,
  );
  if (!/Tests .*\d+ (passed|failed)/.test(text)) throw new Error(`no case ran:\n${text}`);
  return code === 0;
}

function run(command, words, cwd, env = {}) {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 64e6 };
    execFile(command, words, options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? 1) : 0, text: `${stdout}${stderr}` }),
    );
  });
}
