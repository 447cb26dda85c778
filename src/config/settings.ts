/** The settings of one invocation, resolved from all their sources. */
import { type Environment, runsInCi } from '../data/environment.js';
import type { Overrides } from '../data/resources.js';
import { shellQuote } from '../data/text.js';
import { UsageError } from '../errors.js';
import { extensionOf, type OutputFormat, outputFormats, promisedFormat } from './choices.js';
import {
  ineffectiveKeys,
  type KeysInput,
  readFlag,
  resolveKeys,
  type SettingOrigin,
} from './decide.js';
import { flagVariables, type GlobalFlags, type Switches } from './environment.js';
import { isOverride } from './keys.js';
import { namedKeys } from './named-keys.js';
import {
  downloadHint,
  fileOrStdout,
  formatOfFile,
  integer,
  nameList,
  oneOf,
  onOff,
} from './parse.js';
import { profileInForce } from './store.js';

/** Every setting, resolved: flag over environment over profile over default. */
export interface Settings extends Switches {
  /** The profile in use and how it was chosen; `sandbox` is built in. */
  readonly profile: ReturnType<typeof profileInForce>;
  readonly output: OutputFormat;
  readonly fields: readonly string[] | undefined;
  readonly out: string | undefined;
  readonly delimiter: ',' | ';' | '\t';
  readonly time: 'iso' | 'local' | 'relative' | undefined;
  /** The width of the aligned table that a pipe gets (ROSTERCTL_FORCE_TTY). */
  readonly forcedWidth: number | undefined;
  /** One line for each record (`--template`). */
  readonly template: string | undefined;
  /** The pager's command line, or undefined for none. */
  readonly pager: string | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxWaitMs: number;
  readonly concurrency: number;
  readonly rate: number | undefined;
  /** How long before-images are kept, in milliseconds; undefined = none are written. */
  readonly undoKeepMs: number | undefined;
  readonly completionCache: boolean;
  /** True for questions as plain lines, and nothing that moves on the screen. */
  readonly plainPrompts: boolean;
  readonly overrides: Overrides;
}

/** The connection: where requests go, and with which key. */
export interface Connection {
  /** Ends in `/v1`, no trailing slash. */
  readonly baseUrl: string;
  readonly organizationId: string;
  /** Identifies the service to runs and locks, where that is not the base URL: `sandbox`. */
  readonly service?: string;
  /** Printed beside a signed URL that stops working sooner than it says. */
  readonly urlNote?: string;
  readonly key: string;
  /** For messages: "environment ROSTERCTL_API_KEY", "stored for profile default". */
  readonly keySource: string;
}

interface ResolvedSettings {
  readonly settings: Settings;
  /** Every key with its text and origin, for `config list` and `config get`. */
  readonly origins: readonly SettingOrigin[];
  /** Notes for stderr. */
  readonly notes: readonly string[];
}

/**
 * Resolves every setting: flag over environment over profile over defaults. An empty variable
 * counts as unset. Throws UsageError for a bad flag or variable, ConfigError for a bad value in the
 * file.
 */
export function resolveSettings(input: Omit<KeysInput, 'profile'>): ResolvedSettings {
  const { env, file } = input;
  const flags = withFormat(input.flags);
  const profile = profileInForce(flags, env, file);
  // A workbook needs --out, so no setting asks for one.
  const { output, ...others } = flags;
  const isWorkbook = output === 'xlsx';
  const { value, origins, notes } = resolveKeys({
    ...input,
    flags: isWorkbook ? others : flags,
    profile: profile.name,
  });
  const isOn = (key: keyof Switches) => flags[key] ?? readSwitch(key, env);
  const isDumb = env['TERM'] === 'dumb';
  notes.push(...ineffectiveKeys(file, profile.name));
  const settings: Settings = {
    profile,
    output: isWorkbook ? 'xlsx' : value(namedKeys.output),
    fields: flags.fields === undefined ? undefined : readFlag('--fields', flags.fields, nameList),
    out: fileOrStdout(notEmpty('--out', flags.out)),
    bom: isOn('bom'),
    delimiter: readDelimiter(flags, env),
    csvRaw: isOn('csvRaw'),
    noHeader: flags.noHeader ?? false,
    time: value(namedKeys.time),
    dryRun: isOn('dryRun'),
    yes: flags.yes ?? false,
    noInput: isOn('noInput') || runsInCi(env),
    // The flag -v takes precedence over ROSTERCTL_QUIET, and -q over ROSTERCTL_VERBOSE.
    quiet: flags.quiet ?? (readSwitch('quiet', env) && !flags.verbose),
    verbose: flags.verbose ?? (readSwitch('verbose', env) && !flags.quiet),
    debug: isOn('debug'),
    strict: isOn('strict'),
    noColor: flags.noColor ?? false,
    forcedWidth: forcedWidthIn(env),
    template: notEmpty('--template', flags.template),
    pager: flags.noPager || isDumb ? undefined : value(namedKeys.pager),
    timeoutMs: value(namedKeys.timeout),
    retries: value(namedKeys.retries),
    maxWaitMs: value(namedKeys.maxWait),
    concurrency: value(namedKeys.concurrency),
    rate: value(namedKeys.rate),
    undoKeepMs: value(namedKeys['undo.keep']),
    completionCache: value(namedKeys['completion.cache']),
    plainPrompts: value(namedKeys.prompts) === 'plain' || isDumb,
    overrides: overridesIn(origins),
  };
  return { settings, origins: [...origins, ...setVariables(env)], notes };
}

/** Throws UsageError for a flag without a value, as an unset variable leaves it. */
function notEmpty(flag: string, text: string | undefined): string | undefined {
  if (text === '') throw new UsageError(`${flag} must not be empty.`);
  return text;
}

function forcedWidthIn(env: Environment): number | undefined {
  const name = 'ROSTERCTL_FORCE_TTY';
  const text = env[name];
  return text ? readFlag(name, text, integer(1, 10_000)) : undefined;
}

/** An extension that promises a format, such as jsonl, means that format. */
const parseFormat = oneOf(outputFormats, (text) => promisedFormat(`.${text}`));

/** Accepts a format; for the name of a file, which `-o` takes elsewhere, suggests `--out`. */
function parseOutput(text: string): OutputFormat {
  const hint = promisedFormat(text)
    ? `To write a file: --out ${shellQuote(text)}`
    : downloadHint(text);
  if (hint === undefined) return parseFormat(text);
  throw new UsageError(`"${text}" is not a format.`, { hint });
}

/** Combines `--json`, `-o` and the extension of `--out` into one `-o`. */
function withFormat(flags: GlobalFlags): GlobalFlags {
  const { json, output, out, template, fields } = flags;
  const beside = [output && '-o', json && '--json', fields && '--fields'].find(Boolean);
  if (template !== undefined && beside)
    throw new UsageError(`--template and ${beside} cannot be given together.`, {
      hint: 'Use one of them.',
    });
  if (json && output !== undefined && output !== 'json')
    throw new UsageError(`--json and -o ${output} cannot be given together.`, {
      hint: 'Use one of them.',
    });
  if (output !== undefined) readFlag('--output', output, parseOutput);
  refuseOtherEnding(flags);
  if (output === 'xlsx' && out === undefined)
    throw new UsageError('-o xlsx needs a file.', { hint: 'Add --out FILE.xlsx' });
  if (json) return { ...flags, output: 'json' };
  if (output !== undefined) return flags;
  const format = formatOfFile(out);
  return format === undefined ? flags : { ...flags, output: format };
}

/** Throws UsageError if the name of `--out` promises another format than the one that was typed. */
function refuseOtherEnding({ json, output, out, template }: GlobalFlags): void {
  const format = promisedFormat(out);
  if (format === undefined) return;
  const isWorkbook = format === 'xlsx';
  const other = [
    // A template writes text, also that of a .csv.
    template !== undefined && isWorkbook && '--template',
    json && format !== 'json' && '--json',
    output && format !== output && `-o ${output}`,
  ].find(Boolean);
  if (!other) return;
  const file = `${isWorkbook ? 'an' : 'a'} ${extensionOf(out)} file`;
  throw new UsageError(`${other} cannot be written to ${file}.`, {
    hint: `Use another extension, or leave ${other.split(' ')[0]} out to write ${isWorkbook ? 'a workbook' : format}.`,
  });
}

function readDelimiter({ delimiter }: GlobalFlags, env: Environment): Settings['delimiter'] {
  const variable = 'ROSTERCTL_DELIMITER';
  const text = delimiter ?? (env[variable] || ',');
  if (text === '\t' || text === '\\t') return '\t';
  const name = delimiter === undefined ? variable : '--delimiter';
  const word = readFlag(name, text, oneOf([';', ',', 'tab']));
  return word === 'tab' ? '\t' : word;
}

/** Reads the variable of a switch; without one, or empty = off. Throws UsageError for anything but on or off. */
function readSwitch(key: keyof Switches, env: Environment): boolean {
  const { name = '' } = flagVariables.find((variable) => variable.key === key) ?? {};
  const text = env[name];
  return text ? readFlag(name, text, onOff) : false;
}

/** Returns the variables that are set and correspond only to a flag, for `config list`. */
function setVariables(env: Environment): SettingOrigin[] {
  return flagVariables
    .filter(({ name }) => env[name])
    .map(({ name, key }) => ({ key, value: env[name] ?? null, origin: `environment ${name}` }));
}

/** Returns what replaces an assumption; `auto` replaces none, wherever it was set. */
function overridesIn(origins: readonly SettingOrigin[]): Overrides {
  return Object.fromEntries(
    origins
      .filter(({ key, origin }) => isOverride(key) && origin !== 'default')
      .filter(({ value }) => value !== null && value !== 'auto')
      .map(({ key, value }) => [key, value ?? '']),
  );
}
