/** The context of a command: the settings, streams, stores and clocks that it may use. */

import type { FileStore } from './api/store/file-store.js';
import type { Api } from './api/types.js';
import type { GlobalFlags } from './config/environment.js';
import type { Paths, PathsInput } from './config/paths.js';
import type { Connection, Settings } from './config/settings.js';
import type { ConfigStore } from './config/store.js';
import type { CommandManifest } from './data/command-manifest.js';
import type { Instant } from './data/time.js';
import type { ThisProcess } from './files/holder.js';
import type { FullScreen, ScreenWorld } from './terminal/full-screen.js';
import type { LendKeyboard } from './terminal/other-programs.js';
import type { Progress } from './terminal/progress.js';
import type { Prompts } from './terminal/prompt.js';
import type { ProcessStreams } from './terminal/streams.js';

/** The process as `main.ts`, which alone reads it, hands it down. */
export interface World extends PathsInput {
  /** The words after `rosterctl`. */
  readonly argv: readonly string[];
  /** `20.19.0` */
  readonly nodeVersion: string;
  readonly self: ThisProcess;
  /** The tool's own commands, flags and topics, for help and completion. */
  readonly table: CommandManifest;
  /** Returns the texts of the help topics, which are read on the first call. */
  readonly topics: () => { readonly [name: string]: string };
  readonly streams: ProcessStreams;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Facts that error messages need, filled in as they become known. */
  readonly known: {
    settings?: Pick<Settings, 'output' | 'verbose'>;
    keySource?: string;
    /** The profile that failed, if another one was typed. */
    profile?: string;
  };
}

/** The process while a command runs, with its signals. */
export interface CommandWorld extends World, ScreenWorld {
  /** After this, a signal counts as a normal end of the command. */
  readonly expectSignal: () => void;
  /** Sets what is done right before a second signal ends the process with a code, until the result is called. */
  readonly onQuit: (listener: (code: number) => void) => () => void;
  readonly lendKeys: LendKeyboard;
}

/** Everything a command may use. */
export interface LocalContext extends CommandWorld {
  /** Loads another command of the table, a `Command` of `cli/define.ts`: the one that started an earlier run. */
  readonly loadCommand: (words: readonly string[]) => Promise<unknown>;
  readonly settings: Settings;
  /** The global flags as typed, for `auth` and `config`, which report where a value came from. */
  readonly flags: GlobalFlags;
  readonly paths: Paths;
  /** Profiles, defaults and keys on disk. */
  readonly config: ConfigStore;
  /** True if the result is shown to a person: a table or lines on a terminal. */
  readonly isInteractive: boolean;
  /** True if a list is an aligned table: on a terminal, or in a pipe with ROSTERCTL_FORCE_TTY. */
  readonly isAligned: boolean;
  readonly prompts: Prompts;
  readonly progress: Progress;
  readonly now: () => Date;
  /** The current time by both clocks, from which the age of a read is computed. */
  readonly instant: () => Instant;
  /** Adds the connection flags that were typed to each command in a text. */
  readonly withConnection: (text: string) => string;
  /** Prints one sanitized line on stderr, with --quiet too (previews, missing ids). */
  message(line: string): void;
  /** Shows sanitized lines to the person at the terminal: through the pager if they do not fit, else on stderr. */
  showLong(lines: readonly string[]): Promise<void>;
  /** Lends the terminal's full screen to `use`, and takes it back however that ends. */
  fullScreen<T>(use: (screen: FullScreen) => Promise<T>): Promise<T>;
  /** Prints one sanitized line on stderr, except with --quiet. */
  note(message: string): void;
  /** Prints one sanitized line on stderr, only with --verbose. */
  detail(message: string): void;
  /**
   * Connects to the service, for the few commands that only sometimes need it (doctor, auth).
   * Throws NoKeyError, UsageError or ConfigError if the connection is not configured.
   */
  connect(): Promise<Api>;
  /** Connects with settings that are not stored yet, or with those of another profile (auth). */
  connectTo(connection: Connection): Promise<Api>;
  /** The file store behind the signed URLs of documents; requests to it carry no key. */
  files(): Promise<FileStore>;
}

/** The context of a command that calls the service. */
export interface Context extends LocalContext {
  readonly api: Api;
}

/** Connects a command's context. Throws as `connect` does. */
export async function connected(context: LocalContext): Promise<Context> {
  return { ...context, api: await context.connect() };
}
