/** One profile as `profile list` shows it; never its key. */
export interface ProfileEntry {
  readonly name: string;
  readonly organization: string | undefined;
  readonly baseUrl: string | undefined;
  readonly active: boolean;
}

/** Profiles, defaults and keys on disk (interface.md section 7). */
export interface ConfigStore {
  readonly configFile: string;
  readonly credentialsFile: string;
  profiles(): readonly ProfileEntry[];
}
