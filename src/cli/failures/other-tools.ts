/** Words of other tools (gh, kubectl, git, spreadsheets) and what they are called here. */
import type { CommandManifest, ManifestCommand } from '../../data/command-manifest.js';
import { globalFlags } from '../global-flags.js';

/** Our commands or flags, each with the words that mean it elsewhere; of several for a word the best is first. */
type Meanings = Readonly<Record<string, readonly string[]>>;

/** Commands that a first word may mean. */
const wordsElsewhere: Meanings = {
  'auth status': ['whoami', 'status'],
  'auth login': ['signin', 'configure', 'init', 'setup'],
  'profile use NAME': ['switch'],
  'profile list': ['context', 'contexts', 'organizations', 'orgs'],
  'config list': ['settings'],
  'players import FILE --key email': ['import'],
  'tryouts set-status --csv FILE': ['import'],
  'tryouts list -o csv --out FILE': ['export'],
  'documents open ID': ['open'],
  'documents download ID': ['open'],
  'teams update ID --name NAME': ['rename'],
  'tryouts list --search TEXT': ['search', 'find'],
  overview: ['dashboard', 'summary'],
  check: ['audit', 'lint', 'verify'],
  'check --only duplicate.email,duplicate.discord': ['duplicates'],
  'runs list': ['history', 'jobs', 'logs'],
  'runs undo last': ['undo'],
  'tryouts set-status ID --to accepted': ['accept', 'approve'],
  'tryouts set-status ID --to rejected': ['reject'],
  'tryouts list': ['applications', 'applicants', 'apps', 'candidates'],
  'players list': ['roster', 'members', 'users'],
  'documents list': ['files'],
  'documents download ID -O -': ['cat'],
};

/** Commands of the same noun (`*`) that a verb may mean. */
const verbsElsewhere: Meanings = {
  '* upload FILE': ['import'],
  '* set-status --csv FILE': ['import'],
  '* update --csv FILE': ['import'],
  '* list -o csv --out FILE': ['export'],
  '* list --search TEXT': ['search', 'find'],
  '* list --where FIELD=VALUE': ['filter'],
  '* stats': ['count'],
  '* list -o ids': ['count'],
  '* update ID --name NAME': ['rename'],
  '* update ID': ['modify', 'patch', 'set'],
  '* get ID': ['describe', 'inspect', 'info'],
  '* show': ['describe', 'inspect', 'get', 'view', 'log', 'logs'],
  '* delete ID': ['destroy'],
  '* remove NAME': ['delete', 'rm'],
  '* prune RUN': ['delete', 'rm', 'remove'],
  '* forget ID': ['rm', 'remove'],
  '* download ID': ['save'],
  '* download ID -D DIR': ['copy', 'cp'],
  '* download ID -O -': ['cat'],
  '* list': ['print'],
  '* verify DIR': ['list'],
  '* set-status ID --to accepted': ['approve'],
  '* set-status ID --to rejected': ['decline'],
  '* update ID --append-note TEXT': ['note', 'comment'],
  '* update ID --add-tag TAG': ['tag'],
  '* retry RUN': ['rerun'],
  '* resume last': ['continue'],
  '* undo last': ['revert'],
  '* status': ['whoami'],
  '* use NAME': ['switch'],
  '* set KEY VALUE': ['edit'],
};

/** Commands of another noun that a noun and verb mean. */
const nounsWithVerb: Meanings = {
  'profile list': ['auth list', 'config get-contexts'],
  'profile use NAME': ['auth switch', 'config use-context'],
  'auth login --profile NAME': [
    'auth add',
    'auth create',
    'auth new',
    'profile add',
    'profile create',
    'profile new',
  ],
  'profile show': ['config current-context'],
  'cursors reset NAME': ['cursors delete', 'cursors rm', 'cursors remove'],
  'help backup': ['backup restore'],
};

/** Flags of other tools, with ours. */
const flagsElsewhere: Meanings = {
  '--fields': ['--columns', '--select'],
  '--output': ['--format'],
  '--file': ['--output-file', '--to', '--as'],
  '--dir': ['--dest', '--destination', '--output-dir', '--directory', '--folder'],
  '--out': ['--output-file', '-O'],
  '--key-stdin': ['--api-key', '--token', '--with-token'],
  '--org': ['--organization', '--namespace', '--repo', '-R'],
  '--base-url': ['--url', '--host'],
  '--profile': ['--context'],
  '--overwrite': ['--force'],
  '--yes': ['--force'],
  '--quiet': ['--silent'],
  '--where': ['--filter', '--selector', '-l'],
  '--search': ['--query', '--grep', '--name'],
  '--sort': ['--order-by', '--sort-by', '--desc', '--reverse'],
  '--limit': ['--top', '--max', '--per-page', '--page-size'],
  '--to': ['--state'],
  '--status': ['--state', '--to'],
  '--since': ['--after', '--from'],
  '--until': ['--before'],
  '--tag': ['--label'],
  '--append-note': ['--message', '--comment', '--add-note', '--note-append', '-m'],
  '--input': ['--body', '--data'],
  '--set': ['--field'],
};

/** Conditions of --where, with the flags for a time that only some lists have. */
const timesElsewhere: Meanings = {
  'createdAt>=2026-11-01': ['--since', '--after', '--from'],
  'createdAt<=2026-11-30': ['--until', '--before'],
  'createdAt<2026-11-01': ['--older-than'],
  'updatedAt>=2026-11-01': ['--updated-since'],
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
  return oursFor(flagsElsewhere, word).find((flag) => known.has(flag));
}

/** Returns a condition of --where for a flag that filters other records by a time. */
export function conditionFor(word: string): string | undefined {
  return oursFor(timesElsewhere, word)[0];
}

function firstKnown(
  meanings: Meanings,
  word: string,
  noun: string,
  { commands }: CommandManifest,
): string | undefined {
  const lines = oursFor(meanings, word).map((line) => line.replace('*', noun));
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

function oursFor(meanings: Meanings, word: string): readonly string[] {
  return Object.keys(meanings).filter((ours) => meanings[ours]?.includes(word));
}
