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
  readonly noHeader?: boolean;
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
  readonly maxTime?: string;
}
