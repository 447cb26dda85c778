import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inProcess } from './support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

// Errors before any request: the exit code, one sentence, a next step, and nothing sent.
const mistakes: readonly (readonly [line: string, code: number, message: string])[] = [
  ['tryuots list', 2, 'Did you mean: rosterctl tryouts list'],
  ['tryouts lst', 2, 'Did you mean: rosterctl tryouts list'],
  [
    'tryouts lst --status pending',
    2,
    'Did you mean: rosterctl tryouts list --json --status pending',
  ],
  ['set-status a --to accepted', 2, 'rosterctl tryouts set-status a --json --to accepted'],
  ["reject a --append-note 'no show'", 2, "a --to rejected --json --append-note 'no show'"],
  ['reject a --nope x', 2, 'rosterctl tryouts set-status a --to rejected'],
  [
    '--status pending tryouts list',
    2,
    'Did you mean: rosterctl --json tryouts list --status pending',
  ],
  ['--status=pending tryouts list', 2, '--status must come after the command.'],
  ['tryouts --status pending list', 2, '--status must come after the command.'],
  [
    "tryouts --status pending -L 3 --where 'name~a b'",
    2,
    "Did you mean: rosterctl --json tryouts list --status pending -L 3 --where 'name~a b'",
  ],
  ['docs --tag=contract', 2, 'Did you mean: rosterctl --json docs list --tag=contract'],
  ['tryouts --status pending --to accepted', 2, 'It belongs to tryouts'],
  ['app list', 2, 'Did you mean: rosterctl tryouts list'],
  ['get app_1', 2, 'Commands: tryouts get, teams get, players get, documents get, config get'],
  ['-L 3 players list', 2, '-L must come after the command.'],
  ['--clear-note tryouts update a', 2, 'tryouts update a --clear-note'],
  [
    'tryouts update a --to accepted',
    2,
    'Unknown flag --to for tryouts update. Did you mean --status?',
  ],
  ['tryouts list --stauts pending', 2, 'Did you mean --status?'],
  ['tryouts list --status pendin', 2, 'Did you mean pending?'],
  [
    'players list --since 2026-11-01',
    2,
    "Unknown flag --since for players list. To filter by a date: --where 'createdAt>=2026-11-01'",
  ],
  [
    'docs list --before yesterday',
    2,
    "Unknown flag --before for documents list. To filter by a date: --where 'createdAt<=2026-11-30'",
  ],
  [
    "players update --updated-since 7d --name 'A B'",
    2,
    "Unknown flag --updated-since for players update. To filter by a date: --where 'updatedAt>=2026-11-01'",
  ],
  [
    'docs download a --to f.pdf',
    2,
    'Unknown flag --to for documents download. Did you mean --file?',
  ],
  ['docs download a --output-file f', 2, 'Did you mean --file?'],
  ['docs download a --dest files', 2, 'Did you mean --dir?'],
  ['players list --email a@b', 2, "To filter by a field of that name: --where 'email=VALUE'"],
  ['auth login --api-key x', 2, 'Did you mean --key-stdin?'],
  ['auth login --with-token', 2, 'Did you mean --key-stdin?'],
  ['runs logs last', 2, 'rosterctl runs show last'],
  ['players list -w', 2, 'See: rosterctl players list --help'],
  ['players list --reverse', 2, 'Did you mean --sort?'],
  ['players list --sort=-name', 2, 'For the reverse order: --sort name:desc'],
  ['players player_1', 2, 'Did you mean: rosterctl players get player_1 --json'],
  ['docs bulk_rename x', 2, 'See: rosterctl documents --help'],
  ['config base_url https://example.com', 2, 'See: rosterctl config --help'],
  ['config key2', 2, 'See: rosterctl config --help'],
  ['tryouts email:a@b app_2', 2, 'rosterctl tryouts get email:a@b app_2 --json'],
  ['config edit', 2, 'rosterctl config set KEY VALUE'],
  ['teams list --older-than 7d', 2, "To filter by a date: --where 'createdAt<2026-11-01'"],
  ['tryouts list --from 7d', 2, 'Did you mean --since?'],
  ['teams list --since-lst x', 2, 'Did you mean --since-last?'],
  ['tryouts list --sort', 2, '--sort needs a value'],
  ['plan apply p.json --hash --profile club', 2, '--hash needs a value before --profile.'],
  ['tryouts update app_1 --status accepted --dry-run=client', 2, '--dry-run takes no value.'],
  ['players delete player_1 --yes=true', 2, '--yes takes no value.'],
  ['--quiet=false tryouts list', 2, '--quiet takes no value.'],
  ['tryouts list -q=false', 2, 'A short flag before "=false" takes no value.'],
  ['tryouts update app_1 --clear-note=yes', 2, '--clear-note takes no value.'],
  ["tryouts list --where 'status'", 2, 'operator'],
  ['tryouts list --since someday', 2, 'someday'],
  ['tryouts get', 2, 'Which application? Give an id, or email:, name:, discord: or tag:.'],
  ["tryouts get ''", 2, 'empty'],
  ['tryouts get ..', 2, 'not an id'],
  ["tryouts get 'a\u0007b'", 2, 'control characters'],
  ['tryouts update app_1', 2, '--status'],
  ['tryouts update app_1 --status acepted', 2, 'Did you mean accepted?'],
  ["tryouts update app_1 --note ''", 2, '--clear-note'],
  ['tryouts update app_1 accepted --note x', 2, '--status accepted'],
  ['tryouts set-status app_1 accepted', 2, 'To set it: --to accepted'],
  ['tryouts set-status pending --to accepted', 2, 'To select by it: --status pending'],
  ['tryouts update app_1 status=accepted --note x', 2, '--status accepted'],
  ['tryouts update app_1 --note a --clear-note', 2, 'together'],
  ['teams update org_7 --name x', 2, 'organization'],
  ["players delete player_1 --route 'GET /players/{id}' --yes", 2, 'must begin with POST'],
  ['players delete org_7 --yes', 2, 'organization'],
  ['teams create', 2, '--name'],
  ['teams create -F name=a -F name=b', 2, 'name'],
  ["players update player_1 --name x --route 'PUT players'", 2, 'route'],
  ['docs upload missing.pdf', 2, 'missing.pdf'],
  ['docs upload -r.pdf', 2, 'If it is a file, put ./ before its name.'],
  ['docs upload --name.pdf', 2, 'Unknown flag --name.pdf for documents upload. If it is a file'],
  ['docs upload gone/missing.pdf', 2, 'The folder gone does not exist.'],
  ['tryouts set-status --to accepted --ids gone/ids.txt', 2, 'The folder gone does not exist.'],
  ['teams update team_1 --input .', 2, 'Name a file in it.'],
  ['docs upload drawing.svg', 2, 'drawing.svg'],
  ['docs upload fake.pdf', 2, 'fake.pdf'],
  ['docs upload note.txt --content-type text/html', 2, '--content-type'],
  ["docs upload note.txt --name ''", 2, '--name must not be empty'],
  ["docs update doc_1 --name ' '", 2, 'must not be empty'],
  [
    "docs create --file-key k --file-ref r --content-type text/plain --size-bytes 1 --name ''",
    2,
    'must not be empty',
  ],
  ["teams list --out ''", 2, '--out must not be empty.'],
  ["teams create --input ''", 2, '--input must not be empty.'],
  ["docs list --tag ''", 2, '--tag must not be empty.'],
  ["runs show ''", 2, 'RUN must not be empty.'],
  ["docs upload ''", 2, 'PATH must not be empty.'],
  ["auth login --org o --base-url https://h.example/v1 --key-file ''", 2, '--key-file must not be'],
  ['teams create -F bio=@', 2, '-F bio=@ names no file. For the text @: -f bio=@'],
  ["api ''", 2, 'PATH must not be empty.'],
  ['docs download doc_1 --fields nope', 2, 'Known fields: id, path, bytes'],
  ['docs preview doc_1 --url --fields path', 2, 'Known fields: id, url, expiresAt'],
  ['person', 2, 'Which person? Give an id, or email:, name:, discord: or tag:.'],
  ['uploads create --content-type text/plain --size-bytes -1', 2, '--size-bytes'],
  ['uploads create --size-bytes 3', 2, '--content-type'],
  ['docs update doc_1 --add-tag a --add-tag b --remove-tag b', 2, 'both name b.'],
  ["docs update doc_1 --add-tag a -F 'tags[]=b'", 2, 'You set the field tags twice.'],
  ['api https://elsewhere.example.com/v1/teams', 2, ''],
  ['api ../teams', 2, ''],
  ['teams list -o yaml', 2, 'yaml'],
  ['tryouts list --delimiter x', 2, 'Use ; or , or tab.'],
  ['tryouts list --status all', 2, 'To list all, leave --status out.'],
  ['completion', 2, 'Which shell? Use bash, zsh, fish or powershell.'],
  ['completion tcsh', 2, 'Unknown value "tcsh" for SHELL.'],
  ['runs undo', 2, 'Which run? Give its name, or last.'],
  ['backup verify', 2, 'Which folder?'],
  ['uploads finish', 2, 'Which upload? Give an id from rosterctl uploads list, or --all.'],
  ['teams list --timeout 30', 2, 'Write 30s or 30m.'],
  ['teams list --timeout 0', 2, '"0" has no unit. The range is 1ms to 1d.'],
  ['teams list --timeout 0s', 2, '"0s" is too short. The range is 1ms to 1d.'],
  [
    'teams list --base-url https://roster.example.com/api/v2',
    2,
    'Did you mean: https://roster.example.com/api/v1',
  ],
  [
    'teams list --base-url https://roster.example.com/v1/teams',
    2,
    'Did you mean: https://roster.example.com/v1',
  ],
  ['teams list --base-url http://roster.example.com/v1', 2, 'https'],
  ['teams list --base-url https://roster.example.com', 2, '/v1'],
  ['teams list -p nowhere', 2, 'nowhere'],
];

test.each(mistakes)('%s', async (line, code, message) => {
  const service = await recordingService(() => ({ status: 200, json: [] }));
  const home = temporaryFolder();
  writeFileSync(join(home, 'drawing.svg'), '<svg/>');
  writeFileSync(join(home, 'fake.pdf'), 'not a pdf at all');
  writeFileSync(join(home, 'note.txt'), 'a note');
  const ran = await inProcess(`--json ${line}`, { home, cwd: home, env: service.env });
  expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
  const error = errorOf(ran);
  expect(error).toMatchObject({ exitCode: code, retryable: false });
  const text = [error['message'], error['hint']].join('\n');
  expect(text.replaceAll('\n', ' ')).toContain(message);
  // As text, too, an error has at most four lines.
  expect(text.split('\n').length).toBeLessThanOrEqual(4);
  expect(service.requests).toEqual([]);
});

const refusals: readonly (readonly [status: number, body: unknown, code: number, kind: string])[] =
  [
    [400, { error: 'invalidRequest' }, 3, 'invalid'],
    [401, { error: 'invalidApiKey' }, 4, 'authentication'],
    [403, { error: 'forbidden' }, 7, 'permission'],
    [403, { error: 'featureNotAvailable' }, 7, 'permission'],
    [404, { error: 'notFound' }, 5, 'notFound'],
    [409, { error: 'conflict' }, 6, 'conflict'],
    [422, { error: 'unprocessable' }, 3, 'invalid'],
  ];

test.each(refusals)('a %i with %j ends with exit code %i', async (status, body, code, kind) => {
  const service = await recordingService(() => ({ status, json: body }));
  const ran = await rosterctl('tryouts get app_1 --json', { env: service.env });
  expect([ran.code, ran.stdout]).toEqual([code, '']);
  expect(errorOf(ran)).toMatchObject({
    code: (body as { error: string }).error,
    kind,
    status,
    method: 'GET',
    path: '/tryout-applications/{applicationId}',
    exitCode: code,
    retryable: false,
  });
  expect(service.requests.length).toBe(1);
});

test('after a service that does not respond, the next step is named', async () => {
  const service = await recordingService(() => () => {});
  const ran = await rosterctl('teams list --json --retries 0 --timeout 300ms', {
    env: service.env,
  });
  expect(ran.code).toBe(9);
  const hint = 'Run the same command again later, or give it longer: --timeout 2m';
  expect(errorOf(ran)).toMatchObject({ hint, retryable: true });
});

test('an error of --strict names the flag', async () => {
  const service = await recordingService(() => ({
    status: 200,
    json: { data: [{ id: 'app_1', email: 7 }] },
  }));
  const ran = await rosterctl('tryouts list --json --strict', { env: service.env });
  expect(errorOf(ran)).toMatchObject({
    code: 'drift',
    hint: 'To accept it with a note, leave out --strict.',
  });
});

test('a missing key is exit code 4 with the next step', async () => {
  const ran = await rosterctl('teams list --json');
  expect([ran.code, ran.stdout]).toEqual([4, '']);
  expect(errorOf(ran)).toMatchObject({
    code: 'noKey',
    hint: 'Log in: rosterctl auth login\nOr try it on demo data: rosterctl -p sandbox tryouts list',
  });
});

test.each([
  ['players list --game x', 'Unknown flag --game for players list. It belongs to tryouts list.'],
  ['players list --jsno', 'Did you mean --json?'],
  ['tryouts list --json id', 'Unexpected argument "id": --json takes no value.'],
  ['tryouts list --json id', 'To choose fields: rosterctl tryouts list --json --fields id'],
  ['tryouts list --json id name', 'rosterctl tryouts list --json --fields id,name'],
  ['teams list foo', 'Unexpected argument "foo" for rosterctl teams list.'],
  ['version', 'Did you mean: rosterctl --version'],
  ['login', 'Did you mean: rosterctl auth login'],
  ['whoami', 'Did you mean: rosterctl auth status'],
  ['auth whoami', 'Did you mean: rosterctl auth status'],
  ['auth list', 'Did you mean: rosterctl profile list'],
  ['import roster.csv', 'Did you mean: rosterctl players import roster.csv --key email'],
  [
    "players import 'my club.csv'",
    "For example: rosterctl players import 'my club.csv' --key email --dry-run\n",
  ],
  [
    'tryouts import decisions.csv',
    'Did you mean: rosterctl tryouts set-status --csv decisions.csv',
  ],
  ['open doc_1', 'Did you mean: rosterctl documents open doc_1'],
  ['teams rename team_1 Foxes', 'Did you mean: rosterctl teams update team_1 --name Foxes'],
  ['tryouts list pending', 'Did you mean: --status pending'],
  ['tryouts list --game Valorant acepted', 'Did you mean: --status accepted'],
  ['docs list tag:contract', 'Did you mean: --tag contract'],
  ['teams list foxes', 'To search: rosterctl teams list --search foxes'],
  ["players list 'name:Mira Kite'", "To search: rosterctl players list --search 'Mira Kite'"],
  ['players list --team Paper Lions -q', "Did you mean: --team 'name:Paper Lions'"],
  ['players list --search Mira von Kite', "Did you mean: --search 'Mira von Kite'"],
  ['teams create --name Paper Lions -n', "Did you mean: --name 'Paper Lions'"],
  [
    '-p sandbox docs upload a.txt --name Player contract 2026',
    "Did you mean: --name 'Player contract 2026'",
  ],
  ['-p sandbox docs upload --name Player contract a.txt', "Did you mean: --name 'Player contract'"],
  ['-p sandbox docs upload a.txt b.txt --name x', 'but you gave several.\n'],
  ['tryouts list --form Main role=IGL', "Did you mean: --form 'Main role=IGL'"],
  ['docs list --tag season contract', "Did you mean: --tag 'season contract'"],
  ['tryouts list --where name=Mira Kite', "Did you mean: --where 'name=Mira Kite'"],
  ['teams list --limit 3 foxes', 'To search: rosterctl teams list --search foxes'],
  ['teams list --sort name foxes', 'To search: rosterctl teams list --search foxes'],
  ['tryouts list status=pending', 'Did you mean: --where status=pending'],
  ['tryouts list --columns id', 'Did you mean --fields?'],
  ['tryouts get app_1 --format json', 'Did you mean --output?'],
  ['tryouts list -o jsonl', 'Did you mean ndjson?'],
  ['tryouts list -R org_1', 'Did you mean --org?'],
  ['tryouts list --namespace org_1', 'Did you mean --org?'],
  ['tryouts update app_1 -m hello', 'Did you mean --append-note?'],
  ['tryouts update app_1 --note-append hello', 'Did you mean --append-note?'],
  ['tryouts get app_1 --json id', 'rosterctl tryouts get app_1 --json --fields id'],
  ['docs get doc_1 --json tags', 'rosterctl docs get doc_1 --json --fields tags'],
  ['-p sandbox tryouts list --form agee=20', 'Did you mean: --form age=20'],
  ['list tryouts', 'Did you mean: rosterctl tryouts list'],
  ['get teams', 'Did you mean: rosterctl teams list\n'],
  ['get team team_1', 'Did you mean: rosterctl teams get team_1\n'],
  ['profile view', 'Did you mean: rosterctl profile show\n'],
  ['runs view last', 'Did you mean: rosterctl runs show last\n'],
  ['rnus show last', 'Did you mean: rosterctl runs show last\n'],
  ['show runs last', 'Did you mean: rosterctl runs show last\n'],
  ['remove profile club', 'Did you mean: rosterctl profile remove club\n'],
  ['describe player player_1', 'Did you mean: rosterctl players get player_1'],
  ['export players', 'Did you mean: rosterctl players list -o csv --out FILE'],
  ['export players -o table', 'Did you mean: rosterctl players list -o csv --out FILE\n'],
  ['print players', 'Did you mean: rosterctl players list\n'],
  ['docs cat doc_1', 'Did you mean: rosterctl documents download doc_1 -O -'],
  ['docs cp doc_1 papers', 'Did you mean: rosterctl documents download doc_1 -D papers'],
  ['config use-context club', 'Did you mean: rosterctl profile use club'],
  ['cursors delete bot', 'Did you mean: rosterctl cursors reset bot'],
  ['backup list backups', 'Did you mean: rosterctl backup verify backups'],
  ['backup restore backups', 'Did you mean: rosterctl help backup'],
  ['tryouts pending', 'Did you mean: rosterctl tryouts list --status pending'],
  ['tryouts list --pending', 'Did you mean --status pending?'],
  ['tryouts list --csv', 'Did you mean --output csv?'],
  ['teams get --ids ids.txt', 'It belongs to teams update.'],
  ["teams list --jq '.[]'", 'rosterctl has no --jq. Pipe to jq, or use --fields.'],
  ['tryouts list --selector x', 'Did you mean --where?'],
  ["teams create 'Paper Lions'", "Did you mean: --name 'Paper Lions'"],
  ['teams create game=Valorant', 'Did you mean: -F game=Valorant'],
  ['players update player_1 role=IGL', 'Did you mean: -F role=IGL'],
  ['players update player_1 --role IGL', 'To set a field of that name: -F role=VALUE'],
  [
    'players update player_1 --team team_2',
    "--team selects players, so it cannot be given with ids.\nTo set a field: rosterctl players update player_1 -F 'teamIds[]=team_0002'\n",
  ],
  [
    'players update player_1 player_2 --team team_2 -F role=IGL',
    "To set a field: rosterctl players update player_1 player_2 -F 'teamIds[]=team_0002'\n",
  ],
  [
    'docs update doc_1 --type pdf',
    '--type selects documents, so it cannot be given with ids.\nTo set a field: rosterctl documents update doc_1 -F contentType=VALUE\n',
  ],
  ['-p sandbox tryouts convert app_1 --game Valorant', 'Give ids or filters, not both.\n'],
  ['report season.html', 'Did you mean: --html season.html'],
  ['api GET teams', 'Did you mean: -X GET\n'],
  ['api DELETE teams/team_1 --dry-run', 'Did you mean: -X DELETE\n'],
  ['tryouts accept', 'Did you mean: rosterctl tryouts set-status ID --to accepted'],
  ['tryouts accept app_1 app_2', 'rosterctl tryouts set-status app_1 app_2 --to accepted'],
  ["search 'nimbus kite' --json", "rosterctl tryouts list --search 'nimbus kite' --json"],
  ['tryouts accept app_1 --dry-run', 'rosterctl tryouts set-status app_1 --to accepted --dry-run'],
  ['-n tryouts accept app_1 -q', 'rosterctl tryouts set-status app_1 --to accepted -n -q'],
  ['tryouts accept app_1 --force -n', 'rosterctl tryouts set-status app_1 --to accepted -n'],
  [
    'players modify p_1 -F role=IGL --name X -p sandbox',
    'Did you mean: rosterctl players update p_1 -F role=IGL --name X -p sandbox\n',
  ],
  [
    '-p sandbox players modify p_1 -o json',
    'Did you mean: rosterctl -p sandbox players update p_1 -o json"',
  ],
  [
    '--status pending tryouts list -p sandbox',
    'Did you mean: rosterctl tryouts list -p sandbox --status pending\n',
  ],
  [
    'tryouts list --status pending --json id,name -L 3',
    'rosterctl tryouts list --status pending --json --fields id,name -L 3',
  ],
  ["upload 'my contract.pdf'", "Did you mean: rosterctl documents upload 'my contract.pdf'"],
  ['teams rename team_1', 'Did you mean: rosterctl teams update ID --name NAME'],
  ['teams lst foxes', 'Did you mean: rosterctl teams list\n'],
  ['help teams lst', 'Did you mean: rosterctl teams list'],
  ['profile add', 'Did you mean: rosterctl auth login --profile NAME'],
  ['tryouts new', 'See: rosterctl tryouts --help'],
  ['tryouts add --name X', 'See: rosterctl tryouts --help'],
  ['tryouts create', 'See: rosterctl tryouts --help'],
  ['runs new', 'See: rosterctl runs --help'],
])('%s suggests the intended command', async (line, message) => {
  const ran = await inProcess(line);
  const rule = 'a line of this table is a mistake; one that is a command by now leaves it';
  expect([ran.code, ran.stdout], rule).toEqual([2, '']);
  const text = /--json|-o json$/.test(line) ? JSON.stringify(errorOf(ran)) : ran.stderr;
  expect(text.replaceAll('\\"', '"')).toContain(message);
});

test.each([
  'help teams xyz',
  'teams list --delimiter x',
  'docs list --game',
  'tryouts list --all-namespaces',
  'frobnicate',
  '-p sandbox tryouts list --form x=y',
])('%s resembles no command, and nothing is suggested', async (line) => {
  const ran = await inProcess(line);
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(ran.stderr).not.toContain('Did you mean');
});
