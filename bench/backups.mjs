/**
 * The backup figures (K1 to K3): a backup of 10,000 applications and 1,000 documents beside the
 * commands that fetch the same, a second one of unchanged data beside the lists alone, its proof beside
 * sha256sum, and its memory. BENCH_BACKUP_ROUNDS sets the number of rounds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { boundRow, ratioRow } from './figures.mjs';
import { measured, startStore } from './measured.mjs';

const rounds = Number(process.env.BENCH_BACKUP_ROUNDS ?? 5);

/** Returns the rows of the result table for K1 to K3. `tool` starts rosterctl, `home` is a working folder. */
export async function backupFigures({ tool, home, env }) {
  const service = await startStore();
  const base = { ...env, ROSTERCTL_BASE_URL: service.base, ROSTERCTL_ORG: 'org_10000' };
  const folders = [];
  const fresh = (name) => {
    folders.push(mkdtempSync(join(home, name)));
    return folders.at(-1);
  };
  const quoted = tool.map((word) => `'${word}'`).join(' ');
  const lists = ['tryouts', 'players', 'teams', 'docs'].map(
    (noun) => `${quoted} ${noun} list -o ndjson --out "$1/${noun}.ndjson"`,
  );
  const backup = (folder) => [...tool, 'backup', 'create', folder];
  try {
    const [first, again, proven] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      const folder = fresh('backup-');
      const files = [`${quoted} docs download --all -D "$1/files" --skip-existing`, ...lists];
      first.push([
        await succeeded(backup(folder), base),
        await succeeded(inShell(files, fresh('lists-')), base),
      ]);
      again.push([
        await succeeded(backup(folder), base),
        await succeeded(inShell(lists, fresh('lists-')), base),
      ]);
      const hashes = ['find "$1" -type f -print0 | xargs -0 sha256sum'];
      proven.push([
        await succeeded([...tool, 'backup', 'verify', folder], base),
        await succeeded(inShell(hashes, folder), base),
      ]);
    }
    const peak = async (organization) =>
      (await succeeded(backup(fresh('peak-')), { ...base, ROSTERCTL_ORG: organization })).peak /
      1024;
    const [small, large] = [await peak('org_100'), await peak('org_10000')];
    return [
      ratioRow(
        'K1 backup of 10,000 applications, 1,000 files',
        first,
        'download --all, four lists',
        'ms',
        1,
      ),
      ratioRow('K1 again, nothing changed', again, 'four lists', 'ms', 1),
      ratioRow('K2 verify', proven, 'sha256sum', 'ms', 8),
      boundRow('K3 peak of 10,000 applications', large, 140),
      boundRow('K3 beyond that of 100', large - small, 35),
    ];
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    service.stop();
  }
}

const inShell = (lines, folder) => ['sh', '-c', lines.join(' && '), 'sh', folder];

/** Measures a command that must succeed. */
async function succeeded(words, env) {
  const { code, ...figures } = await measured(words, env);
  if (code !== 0) throw new Error(`${words.slice(2, 5).join(' ')} exits ${code}`);
  return figures;
}
