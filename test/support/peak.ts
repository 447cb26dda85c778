import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ran, rosterctl, temporaryFolder } from './run.js';

/**
 * Runs the built program, and returns what it said with its peak memory in MiB as Linux tells it
 * (resourceUsage would include the parent).
 */
export async function withPeak(
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran & { readonly peak: number }> {
  const folder = temporaryFolder();
  const preload = join(folder, 'peak.cjs');
  const file = join(folder, 'peak');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
    process.on('exit', () => {
      const [, kibibytes] = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'));
      fs.writeFileSync(process.env.PEAK_FILE, kibibytes);
    });`,
  );
  const options = { NODE_OPTIONS: `--require ${preload}`, PEAK_FILE: file };
  const ran = await rosterctl(line, { env: { ...env, ...options } });
  return { ...ran, peak: Number(readFileSync(file, 'utf8')) / 1024 };
}
