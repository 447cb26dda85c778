/** The environment variables and global flags that rosterctl reads. */
import { kebab } from '../data/text.js';
import { namedKeys, type SettingKey } from './named-keys.js';

/** Variables for flags that are not settings: on or off, except the delimiter. */
export const flagVariables: readonly {
  readonly name: string;
  /** The flag's internal name, also shown by `config list`. */
  readonly key: keyof GlobalFlags;
  readonly text: string;
}[] = [
  { name: 'ROSTERCTL_NO_INPUT', key: 'noInput', text: 'never prompt (--no-input); also CI' },
  {
    name: 'ROSTERCTL_DRY_RUN',
    key: 'dryRun',
    text: '1: every command is a dry run, and says so (--dry-run)',
  },
  { name: 'ROSTERCTL_QUIET', key: 'quiet', text: 'only results and errors (--quiet)' },
  { name: 'ROSTERCTL_VERBOSE', key: 'verbose', text: 'more detail (--verbose)' },
  { name: 'ROSTERCTL_DEBUG', key: 'debug', text: 'HTTP trace on stderr (--debug)' },
  {
    name: 'ROSTERCTL_STRICT',
    key: 'strict',
    text: 'treat an unexpected answer from the service as an error (--strict)',
  },
  { name: 'ROSTERCTL_BOM', key: 'bom', text: 'begin csv with a byte order mark (--bom)' },
  { name: 'ROSTERCTL_DELIMITER', key: 'delimiter', text: 'csv delimiter (--delimiter)' },
  {
    name: 'ROSTERCTL_CSV_RAW',
    key: 'csvRaw',
    text: 'do not escape csv cells that look like formulas (--csv-raw)',
  },
];

/** Variables of ours that correspond to no setting. */
const ownVariables: readonly (readonly [name: string, text: string])[] = [
  ['ROSTERCTL_PROFILE', 'the profile to use (--profile)'],
  ['ROSTERCTL_BASE_URL', 'the address of the service, ending in /v1 (--base-url)'],
  ['ROSTERCTL_ORG', 'the organization (--org)'],
  ['ROSTERCTL_API_KEY', 'the API key; overrides ROSTERCTL_API_KEY_FILE'],
  ['ROSTERCTL_API_KEY_FILE', 'a file that holds the API key, read each time'],
  ['ROSTERCTL_CONFIG_DIR', 'configuration and keys; else XDG_CONFIG_HOME/rosterctl'],
  ['ROSTERCTL_STATE_DIR', 'runs, uploads, sandbox data, locks; else XDG_STATE_HOME/rosterctl'],
  ['ROSTERCTL_CACHE_DIR', 'ids for completion; else XDG_CACHE_HOME/rosterctl'],
  ['ROSTERCTL_SETTLE', 'how long an unanswered write may still take effect (default 15s)'],
  [
    'ROSTERCTL_FORCE_TTY',
    'a width, e.g. 80: a pipe gets the aligned table of a terminal that wide',
  ],
];

/** Variables that rosterctl shares with other programs. */
const sharedVariables: readonly (readonly [name: string, text: string])[] = [
  ['PAGER', 'the pager, if ROSTERCTL_PAGER is not set; empty or cat: none'],
  [
    'NO_COLOR, FORCE_COLOR',
    'turn colour off or on (FORCE_COLOR wins); also CLICOLOR, CLICOLOR_FORCE, TERM=dumb',
  ],
  ['HTTPS_PROXY, HTTP_PROXY', 'the proxy; lower-case names win; never used for this machine'],
  ['NO_PROXY', 'hosts to reach without the proxy'],
  ['COLUMNS, LINES, TZ, TMPDIR', 'as in other programs'],
  ['NODE_EXTRA_CA_CERTS', 'a file of certificate authorities to trust as well'],
];

/** All variables that users may set, for `help environment`. */
export const environmentVariables: readonly (readonly [name: string, text: string])[] = [
  ...ownVariables,
  ...flagVariables.map(({ name, text }) => [name, text] as const),
  ...Object.values(namedKeys).flatMap(({ env, flag, text }: SettingKey) =>
    env === undefined ? [] : [[env, flag ? `${text} (--${kebab(flag)})` : text] as const],
  ),
  ...sharedVariables,
];

/** The global flags that turn something on. */
export interface Switches {
  readonly bom: boolean;
  readonly csvRaw: boolean;
  readonly noHeader: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly noInput: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly strict: boolean;
  /** The environment is evaluated per stream. */
  readonly noColor: boolean;
}

/** The global flags as typed; absent = not given. */
export interface GlobalFlags extends Partial<Switches> {
  readonly profile?: string;
  readonly org?: string;
  readonly baseUrl?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly fields?: string;
  readonly template?: string;
  readonly out?: string;
  readonly delimiter?: string;
  readonly time?: string;
  readonly noPager?: boolean;
  readonly timeout?: string;
  readonly retries?: string;
  readonly maxWait?: string;
  readonly maxTime?: string;
}
