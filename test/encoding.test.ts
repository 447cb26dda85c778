import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { textDecoder } from '../src/files/text-decoder.js';
import { inProcess } from './support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

/** A shell script in which X is replaced by the bytes that `printf` writes. */
const withBytes = (bytes: string) => `
  X=$(printf '${bytes}'); n=$#; i=0
  while [ $i -lt $n ]; do
    w=$1; shift
    case $w in *BYTES*) w="\${w%%BYTES*}$X\${w#*BYTES}";; esac
    set -- "$@" "$w"; i=$((i + 1))
  done
  exec "$@"`;

test.each([
  ['teams get aBYTES', 'ID'],
  ['teams update team_1 --name MBYTESller', '--name'],
  ['teams update team_1 -F city=MBYTESnchen', '--set'],
  ['teams update team_1 --set-string=city=BYTES', '--set-string'],
  ['tryouts update app_1 --note BYTES', '--note'],
  ['tryouts list --search BYTES', '--search'],
  ['--org BYTES teams list', '--org'],
])('%s: text that is not UTF-8 is rejected and never sent', async (line, word) => {
  const { env, requests } = await recordingService(() => ({ status: 200, json: {} }));
  const ran = await rosterctl(`${line} --yes --json`, { env, through: withBytes('\\344') });
  expect([ran.code, ran.stdout, requests]).toEqual([2, '', []]);
  expect(errorOf(ran)['message']).toMatch(new RegExp(`^${word} ".*" is not UTF-8`));
});

test('a U+FFFD typed in UTF-8 is a value like any other', async () => {
  const { env, requests } = await recordingService(() => ({
    status: 200,
    json: { id: 'a\ufffd', name: 'A' },
  }));
  const ran = await rosterctl('teams get aBYTES --json', {
    env,
    through: withBytes('\\357\\277\\275'),
  });
  expect([ran.code, requests.map(({ url }) => url)]).toEqual([0, ['/v1/teams/org_7/a%EF%BF%BD']]);
});

test('a file whose name is not UTF-8 is reported as missing, with what to do', async () => {
  const { env, requests } = await recordingService(() => ({ status: 200, json: {} }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'a.txt'), 'hello');
  const at = { env, home, cwd: home, through: withBytes('\\344') };
  for (const line of ['docs upload BYTES.txt', 'teams update team_1 -F name=@BYTES']) {
    const ran = await rosterctl(line, at);
    expect([ran.code, requests]).toEqual([2, []]);
    expect(ran.stderr).toContain('No such file: ');
    expect(ran.stderr).toContain('If its name is not UTF-8 text, rename it first.');
  }
});

test.each([
  'tryouts update app_1 --note-file file.txt',
  'teams update team_1 -F city=@file.txt',
  'teams update team_1 --input file.txt',
  'tryouts set-status --to pending --ids file.txt',
  'tryouts set-status --csv file.txt',
])('%s: a file that is not UTF-8 is refused with its first line that is not', async (line) => {
  const { env, requests } = await recordingService(() => ({ status: 200, json: {} }));
  const home = temporaryFolder();
  const text = Buffer.from('id,status\na,pending\nM\xfcnchen,pending\n', 'latin1');
  writeFileSync(join(home, 'file.txt'), text);
  const ran = await inProcess(`${line} --yes --json`, { env, home, cwd: home });
  expect([ran.code, ran.stdout, requests]).toEqual([2, '', []]);
  expect(errorOf(ran)).toMatchObject({
    message: 'file.txt is not UTF-8 text: line 3 reads "München" in Windows-1252.',
    hint: 'Save it as UTF-8, or convert it: iconv -f windows-1252 -t utf-8',
  });
});

test.each([
  'tryouts update app_1 --note-file file.txt',
  'teams update team_1 -F city=@file.txt',
  'teams update team_1 --input file.txt',
  'tryouts set-status --to pending --ids file.txt',
])('%s: a file that holds a NUL, as UTF-16 without a mark does, is refused', async (line) => {
  const { env, requests } = await recordingService(() => ({ status: 200, json: {} }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'file.txt'), Buffer.from('app_1\n', 'utf16le'));
  const ran = await inProcess(`${line} --yes --json`, { env, home, cwd: home });
  expect([ran.code, ran.stdout, requests]).toEqual([2, '', []]);
  expect(errorOf(ran)).toMatchObject({
    message: 'file.txt holds a NUL character; this is not UTF-8 text.',
    hint: 'Save it as UTF-8.',
  });
});

test.each(['é', '€', '🎮', 'x'])(
  'a word of Windows-1252 is named with its line, wherever a piece of the file ends in %s',
  (character) => {
    const text = Buffer.from(`id,note\napp_1,caf${character}\napp_2,J?rgen\n`);
    const foreign = text.indexOf('?');
    text[foreign] = 0xfc;
    for (let split = 1; split < foreign - 2; split += 1) {
      const decode = textDecoder('rows.csv');
      decode(text.subarray(0, split));
      expect(() => decode(text.subarray(split))).toThrow('line 3 reads "Jürgen" in Windows-1252');
    }
  },
);

test.each([
  ['UTF-8', Buffer.from('\ufeffid,é€🎮\r\nb')],
  ['UTF-16LE', Buffer.from('\ufeffid,é€🎮\r\nb', 'utf16le')],
  ['UTF-16BE', Buffer.from('\ufeffid,é€🎮\r\nb', 'utf16le').swap16()],
])('a text in %s is read whole, wherever a piece of the file ends', (_, bytes) => {
  for (let split = 2; split < bytes.length; split += 1) {
    const decode = textDecoder('rows.csv');
    const pieces = [
      bytes.subarray(0, 0),
      bytes.subarray(0, split),
      bytes.subarray(split),
      undefined,
    ];
    expect(pieces.map((piece) => decode(piece)).join('')).toBe('id,é€🎮\r\nb');
  }
});

const inLatin1 = (value: unknown) => Buffer.from(JSON.stringify(value), 'latin1');
const latin1 = { 'content-type': 'application/json;charset=ISO-8859-1' };

test('an answer in ISO-8859-1 that says so is read as such', async () => {
  const note = { id: 'app_1', status: 'pending', internalNotes: 'Gr\u00fc\u00dfe' };
  const long = { ...note, filler: 'x'.repeat(70_000) };
  const { env, requests } = await recordingService(({ url }) => (_, response) => {
    response.writeHead(200, latin1).end(inLatin1(url.includes('/app_1') ? note : [long]));
  });
  const options = { env, home: temporaryFolder() };
  for (const line of ['tryouts list', 'tryouts get app_1']) {
    const ran = await inProcess(`${line} --template {internalNotes}`, options);
    expect([ran.code, ran.stdout]).toEqual([0, 'Gr\u00fc\u00dfe\n']);
  }
  await inProcess('tryouts update app_1 --append-note Ende', options);
  const sent = requests.find(({ method }) => method === 'PATCH')?.body.toString() ?? '';
  expect(JSON.parse(sent)).toMatchObject({
    internalNotes: expect.stringContaining('Gr\u00fc\u00dfe'),
  });
});

test('an answer in UTF-8 is read as UTF-8, whatever charset it names', async () => {
  const { env } = await recordingService(() => ({
    status: 200,
    headers: latin1,
    text: JSON.stringify({ id: 'team_1', name: 'Gr\u00fc\u00dfe' }),
  }));
  const ran = await inProcess('teams get team_1 --template {name}', { env });
  expect(ran.stdout).toBe('Gr\u00fc\u00dfe\n');
});

test.each(['UTF-8', 'none'])('a content encoding that is none: %s', async (encoding) => {
  const { env } = await recordingService(() => ({
    status: 200,
    headers: { 'content-encoding': encoding },
    json: [{ id: 'team_1', name: 'A' }],
  }));
  const ran = await inProcess('teams list -o ids', { env });
  expect([ran.code, ran.stdout]).toEqual([0, 'team_1\n']);
});

test('a file stored with the content encoding utf-8 is downloaded', async () => {
  const store = await recordingService(() => ({
    status: 200,
    headers: { 'content-encoding': 'utf-8', 'content-type': 'text/plain' },
    text: 'hello',
  }));
  const { env } = await recordingService(({ url }) => ({
    status: 200,
    json: url.endsWith('/download') ? { url: `${store.origin}/a?sig=1` } : [{ id: 'doc_1' }],
  }));
  const ran = await inProcess('docs download doc_1 -O -', { env, home: temporaryFolder() });
  expect([ran.code, ran.stdout]).toEqual([0, 'hello']);
});
