/** Words of other tools (gh, kubectl, git, spreadsheets) and what they are called here. */
import type { CommandManifest, ManifestCommand } from '../../data/command-manifest.js';
import { globalFlags } from '../global-flags.js';

/** Commands that a first word may mean, best first. */
const wordsElsewhere: Readonly<Record<string, readonly string[]>> = {
  whoami: ['auth status'],
  status: ['auth status'],
  signin: ['auth login'],
  configure: ['auth login'],
  init: ['auth login'],
  setup: ['auth login'],
  switch: ['profile use NAME'],
  context: ['profile list'],
  contexts: ['profile list'],
  organizations: ['profile list'],
  orgs: ['profile list'],
  settings: ['config list'],
  import: ['players import FILE --key email', 'tryouts set-status --csv FILE'],
  export: ['tryouts list -o csv --out FILE'],
  open: ['documents open ID', 'documents download ID'],
  rename: ['teams update ID --name NAME'],
  search: ['tryouts list --search TEXT'],
  find: ['tryouts list --search TEXT'],
  dashboard: ['overview'],
  summary: ['overview'],
  audit: ['check'],
  lint: ['check'],
  verify: ['check'],
  duplicates: ['check --only duplicate.email,duplicate.discord'],
  history: ['runs list'],
  jobs: ['runs list'],
  logs: ['runs list'],
  undo: ['runs undo last'],
  accept: ['tryouts set-status ID --to accepted'],
  approve: ['tryouts set-status ID --to accepted'],
  reject: ['tryouts set-status ID --to rejected'],
  applications: ['tryouts list'],
  applicants: ['tryouts list'],
  apps: ['tryouts list'],
  candidates: ['tryouts list'],
  roster: ['players list'],
  members: ['players list'],
  users: ['players list'],
  files: ['documents list'],
  cat: ['documents download ID -O -'],
};

/** Commands of the same noun (`*`) that a verb may mean, best first. */
const verbsElsewhere: Readonly<Record<string, readonly string[]>> = {
  import: ['* upload FILE', '* set-status --csv FILE', '* update --csv FILE'],
  export: ['* list -o csv --out FILE'],
  search: ['* list --search TEXT'],
  find: ['* list --search TEXT'],
  filter: ['* list --where FIELD=VALUE'],
  count: ['* stats', '* list -o ids'],
  rename: ['* update ID --name NAME'],
  modify: ['* update ID'],
  patch: ['* update ID'],
  set: ['* update ID'],
  describe: ['* get ID', '* show'],
  inspect: ['* get ID', '* show'],
  info: ['* get ID'],
  get: ['* show'],
  view: ['* show'],
  destroy: ['* delete ID'],
  delete: ['* remove NAME', '* prune RUN'],
  rm: ['* remove NAME', '* prune RUN', '* forget ID'],
  remove: ['* prune RUN', '* forget ID'],
  save: ['* download ID'],
  copy: ['* download ID -D DIR'],
  cp: ['* download ID -D DIR'],
  cat: ['* download ID -O -'],
  print: ['* list'],
  list: ['* verify DIR'],
  approve: ['* set-status ID --to accepted'],
  decline: ['* set-status ID --to rejected'],
  note: ['* update ID --append-note TEXT'],
  comment: ['* update ID --append-note TEXT'],
  tag: ['* update ID --add-tag TAG'],
  rerun: ['* retry RUN'],
  continue: ['* resume last'],
  revert: ['* undo last'],
  whoami: ['* status'],
  switch: ['* use NAME'],
};

/** Commands of another noun that a noun and verb mean. */
const nounsWithVerb: Readonly<Record<string, readonly string[]>> = {
  'auth list': ['profile list'],
  'auth switch': ['profile use NAME'],
  'auth add': ['auth login --profile NAME'],
  'auth create': ['auth login --profile NAME'],
  'auth new': ['auth login --profile NAME'],
  'profile add': ['auth login --profile NAME'],
  'profile create': ['auth login --profile NAME'],
  'profile new': ['auth login --profile NAME'],
  'config use-context': ['profile use NAME'],
  'config current-context': ['profile show'],
  'config get-contexts': ['profile list'],
  'cursors delete': ['cursors reset NAME'],
  'cursors rm': ['cursors reset NAME'],
  'cursors remove': ['cursors reset NAME'],
  'backup restore': ['help backup'],
};

/** Flags of other tools, with ours. */
const flagsElsewhere: Readonly<Record<string, readonly string[]>> = {
  '--columns': ['--fields'],
  '--select': ['--fields'],
  '--format': ['--output'],
  '--output-file': ['--out'],
  '--organization': ['--org'],
  '--namespace': ['--org'],
  '--repo': ['--org'],
  '-R': ['--org'],
  '--url': ['--base-url'],
  '--host': ['--base-url'],
  '--context': ['--profile'],
  '--force': ['--overwrite', '--yes'],
  '--silent': ['--quiet'],
  '--filter': ['--where'],
  '--selector': ['--where'],
  '-l': ['--where'],
  '-O': ['--out'],
  '--query': ['--search'],
  '--grep': ['--search'],
  '--name': ['--search'],
  '--order-by': ['--sort'],
  '--sort-by': ['--sort'],
  '--top': ['--limit'],
  '--max': ['--limit'],
  '--per-page': ['--limit'],
  '--page-size': ['--limit'],
  '--state': ['--to', '--status'],
  '--to': ['--status'],
  '--after': ['--since'],
  '--from': ['--since'],
  '--before': ['--until'],
  '--label': ['--tag'],
  '--message': ['--append-note'],
  '--comment': ['--append-note'],
  '--add-note': ['--append-note'],
  '--note-append': ['--append-note'],
  '-m': ['--append-note'],
  '--body': ['--input'],
  '--data': ['--input'],
  '--field': ['--set'],
};

/** Returns the command line that a first word of another tool means, if there is one. */
export function commandForWord(word: string, table: CommandManifest): string | undefined {
  if (word === 'version') return 'rosterctl --version';
  return (
    firstKnown(wordsElsewhere, word, '', table) ?? firstKnown(wordsElsewhere, `${word}s`, '', table)
  );
}

/** Returns the command line that a verb of another tool means with this noun, if there is one. */
export function commandForVerb(
  noun: string,
  verb: string,
  table: CommandManifest,
): string | undefined {
  return (
    firstKnown(verbsElsewhere, verb, noun, table) ??
    firstKnown(nounsWithVerb, `${noun} ${verb}`, noun, table)
  );
}

/** Returns the flag that a flag of another tool means, if it is among `known`. */
export function flagFor(word: string, known: ReadonlySet<string>): string | undefined {
  return of(flagsElsewhere, word).find((flag) => known.has(flag));
}

function firstKnown(
  words: Readonly<Record<string, readonly string[]>>,
  word: string,
  noun: string,
  { commands }: CommandManifest,
): string | undefined {
  const lines = of(words, word).map((line) => line.replace('*', noun));
  const found = lines.find((line) => {
    const typed = line.split(' ');
    const command = commands.find(({ words: own }) => own.every((each, at) => each === typed[at]));
    return command && hasFlags(command, line);
  });
  return found && `rosterctl ${found}`;
}

function hasFlags(command: ManifestCommand, line: string): boolean {
  const known = new Set([...command.flags, ...globalFlags].map((flag) => flag.word));
  return (line.match(/--[\w-]+/g) ?? []).every((flag) => known.has(flag));
}

function of(words: Readonly<Record<string, readonly string[]>>, word: string): readonly string[] {
  return Object.hasOwn(words, word) ? (words[word] ?? []) : [];
}
