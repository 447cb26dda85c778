import { spawnSync } from 'node:child_process';
import { freshEnvironment, launcher, temporaryFolder } from './run.js';

/** Runs a bash script in which `rosterctl` uses the sandbox; returns stdout and the exit code. */
export function bash(script: string, home = temporaryFolder()) {
  const line = `rosterctl() { "${process.execPath}" "${launcher}" -p sandbox "$@"; }\n${script}`;
  const ran = spawnSync('bash', ['-c', line], {
    cwd: home,
    env: freshEnvironment(home),
    encoding: 'utf8',
    // Long enough to tell a hang from a slow run.
    timeout: 100_000,
  });
  return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}
