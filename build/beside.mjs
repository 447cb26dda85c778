// Runs npm scripts in parallel, and prints the output of each when all have ended. Fails if one fails.
import { spawn } from 'node:child_process';

const ended = await Promise.all(process.argv.slice(2).map(run));
for (const { said } of ended) process.stdout.write(said);
process.exitCode = ended.some(({ code }) => code !== 0) ? 1 : 0;

function run(script) {
  // With a shell, because npm is a batch file on Windows.
  const child = spawn(`npm run ${script}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })));
}
