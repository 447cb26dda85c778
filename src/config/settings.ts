export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'ids'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The global flags as typed; absent = not given. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly org?: string;
  readonly baseUrl?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly fields?: string;
  readonly out?: string;
  readonly bom?: boolean;
  readonly delimiter?: string;
  readonly csvRaw?: boolean;
  readonly time?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly noInput?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly debug?: boolean;
  readonly strict?: boolean;
  readonly noColor?: boolean;
  readonly noPager?: boolean;
  readonly timeout?: string;
  readonly retries?: string;
  readonly maxWait?: string;
}

/** The guesses that an admin can replace (gaps.md 4.5), by their config key. */
export type Guesses = { readonly [key: string]: string };

/** Every setting, decided: flag over environment over profile over default. */
export interface Settings {
  /** The profile in force and how it was chosen; `sandbox` is built in. */
  readonly profile: {
    readonly name: string;
    readonly via: 'flag' | 'environment' | 'active' | 'none';
  };
  readonly output: OutputFormat;
  readonly fields: readonly string[] | undefined;
  readonly out: string | undefined;
  readonly bom: boolean;
  readonly delimiter: ',' | ';' | '\t';
  readonly csvRaw: boolean;
  readonly time: 'iso' | 'local' | 'relative' | undefined;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly noInput: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly strict: boolean;
  /** --no-color was given; the environment is judged per stream. */
  readonly noColor: boolean;
  /** The pager's command line, or undefined for none. */
  readonly pager: string | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxWaitMs: number;
  readonly concurrency: number;
  readonly rate: number | undefined;
  readonly completionCache: boolean;
  readonly guesses: Guesses;
}

/** Where requests go and with what. */
export interface Connection {
  /** Ends in `/v1`, no trailing slash. */
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly key: string;
  /** For people: "environment ROSTERCTL_API_KEY", "stored for profile default". */
  readonly keySource: string;
}
