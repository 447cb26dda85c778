import type { Api } from './api/types.js';
import type { FileStore } from './api/file-store.js';
import type { Environment, Paths } from './config/paths.js';
import type { Connection, GlobalFlags, Settings } from './config/settings.js';
import type { ConfigStore } from './config/store.js';
import type { Instant } from './data/time.js';
import type { PlainTable } from './data/plain-table.js';
import type { ThisProcess } from './files/lock.js';
import type { Progress } from './terminal/progress.js';
import type { Prompts } from './terminal/prompt.js';
import type { Streams } from './terminal/streams.js';

/** What every command may touch. Nothing below `main.ts` knows `process`. */
export interface LocalContext {
  /** The tool's own commands, flags and topics, for help and completion. */
  readonly table: PlainTable;
  /** `20.19.0` */
  readonly nodeVersion: string;
  /** The text of a help topic. */
  readonly topic: (name: string) => string | undefined;
  readonly self: ThisProcess;
  readonly settings: Settings;
  /** The global flags as typed: for `auth` and `config`, which look at where a value came from. */
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly paths: Paths;
  /** Profiles, defaults and keys on disk. */
  readonly config: ConfigStore;
  readonly streams: Streams;
  /** The result becomes a table or lines on a terminal: a person reads it. */
  readonly isInteractive: boolean;
  readonly prompts: Prompts;
  readonly progress: Progress;
  readonly now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  /** This moment by both clocks: what the age of a read is measured with. */
  readonly instant: () => Instant;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** One line on stderr, made safe; printed with --quiet too (previews, missing ids). */
  message(line: string): void;
  /** One line on stderr, made safe; silent with --quiet. */
  note(message: string): void;
  /** Like `note`, only with --verbose. */
  detail(message: string): void;
  /**
   * The service, for the few commands that only sometimes talk to it (doctor, auth).
   * Throws NoKeyError, UsageError or ConfigError when the connection is not configured.
   */
  connect(): Promise<Api>;
  /** The service at a connection that is not stored yet, or another profile's (auth). */
  connectTo(connection: Connection): Promise<Api>;
  /** Where the signed URLs of documents are read and written, without the key. */
  files(): Promise<FileStore>;
}

/** What a command that calls the service gets. */
export interface Context extends LocalContext {
  readonly api: Api;
}
