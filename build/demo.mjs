/**
 * An admin's day on demo data: each step runs the built program as a person or a script would, in a
 * fresh home folder, and fails on an unexpected exit code or output.
 */
import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterErasing, freshUser, inTerminal, launcher, takesColor } from './terminal.mjs';

const samples = fileURLToPath(new URL('../test/support/files/', import.meta.url));
const home = await mkdtemp(join(tmpdir(), 'rosterctl-demo-'));
const desk = join(home, 'desk');
const isColored = takesColor(process.stdout, process.env);
const columns = Math.min(Math.max(process.stdout.columns ?? 80, 60), 120);
let step = 0;

try {
  await mkdir(desk);
  for (const file of ['contract.pdf', 'photo.png'])
    await copyFile(join(samples, file), join(desk, file));
  await day();
  console.log(
    `\nAll ${step} steps gave the expected result. The demo data of this run has been deleted. Try it yourself:`,
  );
  console.log('  bin/rosterctl -p sandbox tryouts list --status pending\n');
} catch (error) {
  console.error(`\nThe demo failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await rm(home, { recursive: true, force: true });
}

async function day() {
  tell(
    '9 a.m. Does the key work? (-p sandbox is the built-in demo service: real HTTP on this machine)',
  );
  await see('auth status', { holds: ['org_demo', 'accepted by the service'] });

  tell('The teams of the organization.');
  await see('teams list', { holds: ['Valorant'] });

  tell('Who is still waiting for an answer?');
  const pending = JSON.parse((await quietly('tryouts list --status pending --json')).stdout);
  check(pending.length === 22, `22 pending applications, not ${pending.length}`);
  await see('tryouts list --status pending --limit 6', { holds: ['pending'] });

  const waiting = pending[0].id;
  tell('One application stands out. Preview the change, then make it.');
  await see(`tryouts update ${waiting} --status shortlisted --dry-run`, {
    holds: ['PATCH', 'shortlisted'],
  });
  await see(
    `tryouts update ${waiting} --status shortlisted --note 'Call on Friday' --fields id,name,status,internalNotes`,
    {
      holds: ['shortlisted'],
    },
  );
  await see('sandbox events', { holds: ['tryout.status_changed', waiting] });

  tell('An accepted applicant becomes a player.');
  const accepted = JSON.parse(
    (await quietly('tryouts list --status accepted --unconverted --json')).stdout,
  )[0];
  await see(`tryouts convert ${accepted.id} --yes --fields id,name,status,convertedPlayer.id`, {
    holds: ['player_'],
  });
  const { convertedPlayerId } = JSON.parse(
    (await quietly(`tryouts get ${accepted.id} --json`)).stdout,
  );
  await see(`players get ${convertedPlayerId} --fields id,name,email,createdAt`, {
    holds: [convertedPlayerId],
  });

  tell(
    'Upload a contract and a team photo, each in three steps: get a URL, send the file, create the document.',
  );
  const uploaded = JSON.parse(
    (
      await see(`docs upload contract.pdf --name 'Player contract' --tag 2026-spring`, {
        json: true,
      })
    ).stdout,
  );
  await see('docs upload photo.png --tag photos --fields id,name,contentType,sizeBytes', {
    holds: ['image/png'],
  });
  await see('docs list --tag 2026-spring', { holds: ['Player contract'] });

  tell('Download the contract and compare it with the original.');
  await see(`docs download ${uploaded.id} -O copy.pdf`, { holds: ['copy.pdf'] });
  const [sent, received] = await Promise.all([
    readFile(join(desk, 'contract.pdf')),
    readFile(join(desk, 'copy.pdf')),
  ]);
  check(sent.equals(received), 'the downloaded file equals the uploaded one');
  console.log(`  ${received.length} bytes, identical.`);

  tell('Scripts read JSON.');
  const piped = await quietly('tryouts list --json=id,status');
  const counts = Object.entries(
    Object.groupBy?.(JSON.parse(piped.stdout), (row) => row.status) ?? count(piped),
  );
  console.log(dim('$ rosterctl -p sandbox tryouts list --json=id,status | count by status'));
  console.log(counts.map(([status, rows]) => `  ${status} ${rows.length}`).join('\n'));

  tell('A typo is caught before anything is sent.');
  await see(`tryouts update ${waiting} --status acepted`, {
    code: 2,
    holds: ['Did you mean accepted?'],
  });
}

function count(piped) {
  const groups = {};
  for (const row of JSON.parse(piped.stdout)) (groups[row.status] ??= []).push(row);
  return groups;
}

function tell(sentence) {
  console.log(`\n${bold(sentence)}`);
}

/** Runs a visible step: in a terminal, or piped if its JSON is needed. */
async function see(line, { code = 0, holds = [], json = false } = {}) {
  step++;
  const words = ['-p', 'sandbox', ...splitWords(line)];
  console.log(dim(`$ rosterctl -p sandbox ${line}${json ? ' --json' : ''}`));
  const ran = json
    ? await quietly(`${line} --json`)
    : await inTerminal(words, { home, cwd: desk, columns });
  const text = ran.text ?? ran.stdout;
  console.log((isColored ? text : stripVTControlCharacters(afterErasing(text))).trimEnd());
  check(ran.code === code, `exit code ${code} of "${line}", not ${ran.code}`);
  for (const word of holds) check(text.includes(word), `"${word}" in the output of "${line}"`);
  return ran;
}

/** Runs a step through pipes, as a script does. */
async function quietly(line) {
  const child = spawn(process.execPath, [launcher, '-p', 'sandbox', ...splitWords(line)], {
    cwd: desk,
    env: freshUser(home),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  check(code === 0, `exit code 0 of "${line}", not ${code}`);
  return { code, stdout };
}

/** Splits a command line as a shell does, with single quotes. */
function splitWords(line) {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));
}

function check(holds, what) {
  if (!holds) throw new Error(`expected ${what}`);
}

function bold(text) {
  return isColored ? `\u001b[1m${text}\u001b[22m` : text;
}

function dim(text) {
  return isColored ? `\u001b[2m${text}\u001b[22m` : text;
}
