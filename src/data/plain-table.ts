/**
 * The command table without schemas and functions: what help, usage errors, completion and
 * `commands` read. The build runs the real table once and writes this, so that none of those
 * loads zod or a command.
 */
export interface PlainTable {
  readonly version: string;
  readonly groups: readonly PlainGroup[];
  readonly commands: readonly PlainCommand[];
  /** The first words, aliases too, of what does the same for every organization. */
  readonly everywhere?: readonly string[];
  readonly topics: readonly PlainTopic[];
}

export interface PlainGroup {
  readonly word: string;
  readonly aliases: readonly string[];
  readonly about: string;
}

export interface PlainTopic {
  readonly name: string;
  readonly about: string;
}

export interface PlainCommand {
  /** The words typed: ['tryouts', 'list'] or ['api']. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly about?: string | undefined;
  readonly examples: readonly (readonly [what: string, words: string])[];
  readonly args: readonly PlainParam[];
  readonly flags: readonly PlainParam[];
  readonly needsOneOf: readonly (readonly string[])[];
  readonly excludes: readonly (readonly string[])[];
  readonly calls: readonly PlainCall[];
  readonly basis: 'stated' | 'assumed' | 'local';
  /** It runs without a connection, also with a broken configuration. */
  readonly local: boolean;
  readonly writes: boolean;
  /** It may ask before it writes, so `--yes` means something. */
  readonly asks: boolean;
  /** Global flags that its short help shows too. */
  readonly shows: readonly string[];
  /** Documented fields of what it prints, for completing --fields. */
  readonly fields: readonly string[];
}

export interface PlainCall {
  readonly route: string;
  readonly basis: 'stated' | 'assumed';
  /** The contract's section, or why the call is a guess. */
  readonly source: string;
  readonly permission?: string | undefined;
}

export interface PlainParam {
  /** As commands know it: `clearNote`. */
  readonly name: string;
  /** As typed: `--clear-note`; for a positional the placeholder. */
  readonly word: string;
  readonly short?: string | undefined;
  readonly placeholder: string;
  readonly text: string;
  /** `value` takes one word, `values` is repeatable, `nothing` is a switch. */
  readonly takes: 'value' | 'values' | 'nothing';
  readonly commaList: boolean;
  readonly required: boolean;
  readonly choices?: readonly string[] | undefined;
  readonly group?: string | undefined;
  /** Left out of the short help page. */
  readonly rare?: boolean | undefined;
  /** What a TAB offers: `file`, `profile`, `id:tryouts` … */
  readonly completes?: string | undefined;
}
