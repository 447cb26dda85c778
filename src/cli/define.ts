/** Command definitions: parameters, the kinds of commands, and the table that holds them. */
import type { EndpointName } from '../api/contract.js';
import type { PlannedRequest } from '../api/types.js';
import type { GlobalFlags } from '../config/environment.js';
import type { Context, LocalContext } from '../context.js';
import type { CommandOutput, ValueWithExit } from './command-output.js';
import type { TypedLine } from './typed-line.js';
import type { View } from './views.js';

// --- parameters ---

interface ParamOptions {
  /** One letter, without the dash. */
  readonly short?: string;
  /** The placeholder in the usage line: NAME, `k=v`, FILE; by default the flag's name in capitals. */
  readonly placeholder?: string;
  /** The section of a help page that lists the flag. */
  readonly group?: 'selection' | 'change' | 'safety' | 'output';
  /** The flag as typed, if that is not its name, because two parameters cannot share a name. */
  readonly word?: string;
  /** True to leave it out of the short help page for lack of space. */
  readonly rare?: boolean;
  /** The message if it is required and missing; by default `--to is missing.` */
  readonly ifMissing?: string;
  /** The completion of a value that is not an enum. */
  readonly completes?:
    | 'file'
    | 'directory'
    | 'profile'
    | 'configKey'
    | 'configValue'
    | 'field'
    | 'topic'
    | 'resource'
    | 'run'
    | 'cursor'
    | `id:${string}`
    /** Keys with the values of each: `list=array|data paging=none|page`. */
    | `pair:${string}`
    /** A field of this resource; with `field` alone, of the one after which the command is named. */
    | `field:${string}`
    /** A path of `ResourceWords.completed` of a resource: `value:tryouts:gamerTags.game`. */
    | `value:${string}:${string}`;
}

/** A positional or flag; its schema defines type, choices and whether it may be absent. */
interface Param<T = unknown> extends ParamOptions {
  readonly schema: ValueSchema<T>;
  readonly text: string;
  /** `value` takes one word; `values` is repeatable, or variadic for a positional; `nothing` is a switch. */
  readonly takes: 'value' | 'values' | 'nothing';
  /** For `values`: true if one word may hold several, separated by commas. */
  readonly commaList: boolean;
}

export type Params = { readonly [name: string]: Param };

/** The parsed values of a set of parameters, by name. */
export type ValuesOf<P extends Params> = {
  readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** Creates a parameter with one value, which is optional if its schema is. */
export function param<T>(
  schema: ValueSchema<T>,
  text: string,
  options: ParamOptions = {},
): Param<T> {
  return { ...options, schema, text, takes: 'value', commaList: false };
}

/** Creates a repeatable flag or a variadic positional; its schema describes the entire array. */
export function params<T extends readonly unknown[] | undefined>(
  schema: ValueSchema<T>,
  text: string,
  options: ParamOptions & { commaList?: boolean },
): Param<T> {
  const { commaList = false, ...rest } = options;
  return { ...rest, schema, text, takes: 'values', commaList };
}

/** Creates a switch. */
export function flag(text: string, options: ParamOptions = {}): Param<boolean> {
  return { ...options, schema: switchValue, text, takes: 'nothing', commaList: false };
}

// --- commands ---

/** An example: what it does, and the words after the command's own name. */
type Example = readonly [what: string, words: string];

/**
 * The endpoints that a command may call; those of all operations for one that continues runs. Help and
 * `commands` derive `basis` from it.
 */
type Calls = readonly EndpointName[] | 'ofOperations';

interface CommandBase<A extends Params, F extends Params> {
  readonly summary: string;
  /** Further sentences for `--help`: surprises and assumptions. */
  readonly about?: string;
  readonly examples: readonly [Example, ...Example[]];
  /** Required unless the command is local. */
  readonly calls?: Calls;
  /** The basis of a command whose requests are not in the contract table (`api`, `uploads put`). */
  readonly basis?: 'stated' | 'assumed';
  readonly args?: A;
  readonly flags?: F;
  /** Global flags that matter to this command, so that its short help shows them too. */
  readonly shows?: readonly (keyof GlobalFlags)[];
  /** At least one of each set must be given. */
  readonly needsOneOf?: readonly (readonly (keyof A | keyof F)[])[];
  /** At most one of each set may be given. */
  readonly excludes?: readonly (readonly (keyof A | keyof F)[])[];
}

type Values<A extends Params, F extends Params> = ValuesOf<A> & ValuesOf<F>;

/** A command that reads, or does something local that needs no dry run. */
interface ReadCommand<
  A extends Params = Params,
  F extends Params = Params,
  T = unknown,
  C = Context,
> extends CommandBase<A, F> {
  readonly view: View<T>;
  /** True if it leaves something behind, so that its result is printed even if output flags do not fit. */
  readonly hasSideEffects?: boolean;
  run(
    context: C,
    values: Values<A, F>,
    line: TypedLine,
  ): T | ValueWithExit<T> | Promise<T | ValueWithExit<T>>;
}

/** The old and new value of one field; `from` is undefined if the old value is unknown. */
export interface PlannedChange {
  readonly id: string | null;
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The effect of a `WriteCommand`, determined by reads only. */
interface WritePlan<S = unknown> {
  readonly changes: readonly PlannedChange[];
  /** The requests that a dry run prints; none for what changes this machine only. */
  readonly requests?: readonly PlannedRequest[];
  /** True if it changes nothing (`api` with GET): a dry run sends it like any read. */
  readonly onlyReads?: boolean;
  /** Input of `apply`. */
  readonly state: S;
}

/** The output of a dry run of one record (`-n`). */
export interface DryRun {
  readonly schema: 1;
  readonly dryRun: true;
  readonly requests: readonly PlannedRequest[];
  readonly changes: readonly PlannedChange[];
}

/** A command that changes something: `plan` reads, `apply` writes, and `--dry-run` prints the plan. */
export interface WriteCommand<
  A extends Params = Params,
  F extends Params = Params,
  T = unknown,
  S = unknown,
  C = Context,
> extends CommandBase<A, F> {
  readonly view: View<T>;
  plan(context: C, values: Values<A, F>): Promise<WritePlan<S>>;
  apply(context: C, plan: WritePlan<S>, values: Values<A, F>): Promise<T | ValueWithExit<T>>;
  /** Returns the question to ask before the write; required of a command that deletes. */
  confirm?(plan: WritePlan<S>, values: Values<A, F>): string | undefined;
}

/** A command that sends rows, of an earlier invocation or its own, and prints what became of them. */
interface RunCommand<A extends Params = Params, F extends Params = Params>
  extends CommandBase<A, F> {
  readonly calls: Calls;
  readonly view: View<never>;
  /** True if it may ask before it writes. */
  readonly asks: boolean;
  run(
    context: Context,
    values: Values<A, F>,
    words: readonly string[],
    typed?: TypedLine,
  ): Promise<CommandOutput>;
}

/** A command that changes records, executed by the engine in `bulk/`. */
export interface OperationCommand<A extends Params = Params, F extends Params = Params>
  extends RunCommand<A, F> {
  /** The change to each record; typed by the engine. */
  readonly operation: object;
}

/** Any command with its types erased, as the table holds it. */
export type Command =
  | ({ readonly kind: 'read'; readonly local: boolean } & ReadCommand<Params, Params, never, never>)
  | ({ readonly kind: 'write'; readonly local: boolean } & WriteCommand<
      Params,
      Params,
      never,
      unknown,
      never
    >)
  | ({ readonly kind: 'operation'; readonly local: false } & OperationCommand<Params, Params>)
  | ({ readonly kind: 'run'; readonly local: false } & RunCommand<Params, Params>);

/** Defines a command that calls the service and changes nothing. */
export function defineCommand<A extends Params, F extends Params, T>(
  command: ReadCommand<A, F, T, Context> & { readonly calls: Calls },
): Command {
  return { kind: 'read', local: false, ...command } as Command;
}

/** Defines a command that needs no connection, although it may call `connect()`. */
export function defineLocalCommand<A extends Params, F extends Params, T>(
  command: ReadCommand<A, F, T, LocalContext>,
): Command {
  return { kind: 'read', local: true, ...command } as Command;
}

/** Defines a command that changes something at the service. */
export function defineWrite<A extends Params, F extends Params, T, S>(
  command: WriteCommand<A, F, T, S, Context> & { readonly calls: Calls },
): Command {
  return { kind: 'write', local: false, ...command } as Command;
}

/** Defines a command that sends rows of an earlier invocation. */
export function defineRunCommand<A extends Params, F extends Params>(
  command: RunCommand<A, F>,
): Command {
  return { kind: 'run', local: false, ...command } as Command;
}

/** Defines a command that changes something on this machine only. */
export function defineLocalWrite<A extends Params, F extends Params, T, S>(
  command: WriteCommand<A, F, T, S, LocalContext>,
): Command {
  return { kind: 'write', local: true, ...command } as Command;
}

/** Validates a parameter's input: a zod schema, or one of the schemas below. */
interface ValueSchema<T = unknown> {
  safeParse(given: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly {
            readonly message: string;
            readonly path: readonly PropertyKey[];
          }[];
        };
      };
  readonly choices?: readonly string[] | undefined;
}

const switchValue = schemaOf((value) => value === true);

/** The schema of one word. */
export const oneWord = schemaOf((value) => (typeof value === 'string' ? value : undefined));

/** The schema of an optional word. */
export const optionalWord: ValueSchema<string | undefined> = {
  safeParse: (value) =>
    value === undefined ? { success: true, data: value } : oneWord.safeParse(value),
};

/** The schema of any number of words. */
export const anyWords = schemaOf((value): readonly string[] => (Array.isArray(value) ? value : []));

/** Creates the schema of one of these words. */
export function oneOfWords<T extends string>(choices: readonly T[]): ValueSchema<T> {
  return { ...schemaOf((value) => choices.find((choice) => choice === value)), choices };
}

/** Creates a schema; `read` returns undefined for an invalid value. */
function schemaOf<T>(read: (value: unknown) => T | undefined): ValueSchema<T> {
  return {
    safeParse(value) {
      const data = read(value);
      if (data !== undefined) return { success: true, data };
      return { success: false, error: { issues: [{ message: 'is missing', path: [] }] } };
    },
  };
}
