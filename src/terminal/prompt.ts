/** Questions to a person; all go to stderr. Each throws UsageError when nobody can be asked. */
export interface Prompts {
  /** Whether stdin and stderr are terminals and prompting was not forbidden. */
  readonly possible: boolean;
  /** `[y/N]`, default No. Throws CancelledError on Ctrl-C or Escape; false is a No. */
  confirm(question: string): Promise<boolean>;
  text(
    question: string,
    options?: { default?: string; validate?: (value: string) => string | undefined },
  ): Promise<string>;
  /** Masked input for a key. */
  secret(question: string): Promise<string>;
  select<T extends string>(
    question: string,
    choices: readonly { value: T; label: string }[],
  ): Promise<T>;
}
