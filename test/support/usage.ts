import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ran, type RunOptions, rosterctl, temporaryFolder } from './run.js';

/**
 * Runs the built program, and returns what it said with its peak memory (resourceUsage would include
 * the parent) and the bytes that it read from files and sockets, both in MiB as Linux tells them.
 */
export async function withUsage(
  line: string,
  at: RunOptions,
): Promise<Ran & { readonly peak: number; readonly read: number }> {
  const folder = temporaryFolder();
  const preload = join(folder, 'usage.cjs');
  const file = join(folder, 'usage');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
    process.on('exit', () => {
      const [, peak] = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'));
      const [, read] = /rchar:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'));
      fs.writeFileSync(process.env.USAGE_FILE, JSON.stringify({ peak: peak / 1024, read: read / 1024 / 1024 }));
    });`,
  );
  const options = { NODE_OPTIONS: `--require ${preload}`, USAGE_FILE: file };
  const ran = await rosterctl(line, { ...at, env: { ...at.env, ...options } });
  return { ...ran, ...(JSON.parse(readFileSync(file, 'utf8')) as { peak: number; read: number }) };
}
