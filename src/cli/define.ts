import type { EndpointName } from '../api/contract.js';
import type { PlannedRequest } from '../api/types.js';
import type { GlobalFlags } from '../config/environment.js';
import type { Context, LocalContext } from '../context.js';
import type { ExitName } from '../exit-codes.js';
import type { FailedOne } from './failure.js';
import type { Change, Plan, View } from './views.js';
import { given, type ValueSchema } from './words.js';

// --- parameters ---

/** How help groups a flag. */
type FlagGroup = 'selection' | 'change' | 'safety' | 'output';

interface ParamOptions {
  /** One letter, without the dash. */
  readonly short?: string;
  /** The word in the usage line: NAME, `k=v`, FILE; by default the flag's name in capitals. */
  readonly placeholder?: string;
  readonly group?: FlagGroup;
  /** As typed, where that is not the flag's name: two parameters cannot have one name. */
  readonly word?: string;
  /** Not on the short help page, which is full without it. */
  readonly rare?: boolean;
  /** What a TAB offers where the value is no enum. */
  readonly completes?:
    | 'file'
    | 'directory'
    | 'profile'
    | 'configKey'
    | 'configValue'
    | 'field'
    | 'topic'
    | 'run'
    | `id:${string}`
    /** A path of `ResourceWords.completed`, of the resource after which the command is named. */
    | `value:${string}`;
}

/** One positional or flag: its schema says type, choices and whether it may be absent. */
export interface Param<T = unknown> extends ParamOptions {
  readonly schema: ValueSchema<T>;
  readonly text: string;
  /** `value` takes one word, `values` is repeatable (a positional: variadic), `nothing` is a switch. */
  readonly takes: 'value' | 'values' | 'nothing';
  /** For `values`: one word may hold several, separated by commas. */
  readonly commaList: boolean;
}

export type Params = { readonly [name: string]: Param };

/** The values of a set of parameters, by name. */
export type ValuesOf<P extends Params> = {
  readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** A parameter with one value; optional when its schema is. */
export function param<T>(
  schema: ValueSchema<T>,
  text: string,
  options: ParamOptions = {},
): Param<T> {
  return { ...options, schema, text, takes: 'value', commaList: false };
}

/** A repeatable flag or a variadic positional; its schema describes the whole array. */
export function params<T extends readonly unknown[] | undefined>(
  schema: ValueSchema<T>,
  text: string,
  options: ParamOptions & { commaList?: boolean } = {},
): Param<T> {
  const { commaList = false, ...rest } = options;
  return { ...rest, schema, text, takes: 'values', commaList };
}

/** A switch: given or not. */
export function flag(text: string, options: ParamOptions = {}): Param<boolean> {
  return { ...options, schema: given, text, takes: 'nothing', commaList: false };
}

// --- commands ---

/** The text a person reads: what it does, then the words after the command's own name. */
export type Example = readonly [what: string, words: string];

interface Described<A extends Params, F extends Params> {
  readonly summary: string;
  /** Further sentences for `--help`: what surprises, what is assumed. */
  readonly about?: string;
  readonly examples: readonly [Example, ...Example[]];
  /** The calls of the contract that it may make; empty = a local command. Help and `commands` derive `basis`. */
  readonly calls: readonly EndpointName[];
  /** For a command that speaks to the service outside the table's rows (`api`, `uploads put`). */
  readonly basis?: 'stated' | 'assumed';
  readonly args?: A;
  readonly flags?: F;
  /** It does the same for every organization: what names it in a message needs no flag of a connection. */
  readonly everywhere?: true;
  /** Global flags that this command is about: its short help shows them too. */
  readonly shows?: readonly (keyof GlobalFlags)[];
  /** At least one of these must be given. */
  readonly needsOneOf?: readonly (readonly (keyof A | keyof F)[])[];
  /** At most one of each set may be given. */
  readonly excludes?: readonly (readonly (keyof A | keyof F)[])[];
}

type Values<A extends Params, F extends Params> = ValuesOf<A> & ValuesOf<F>;

/** A command that reads, or does something local that no dry run needs to show. */
interface ReadCommand<
  A extends Params = Params,
  F extends Params = Params,
  T = unknown,
  C = Context,
> extends Described<A, F> {
  readonly view: View<T>;
  /** It leaves something behind (a key, files): once done, its result is shown in whatever way it can be. */
  readonly acts?: boolean;
  run(
    context: C,
    values: Values<A, F>,
  ): T | Outcome<T> | Lasting<T> | Promise<T | Outcome<T> | Lasting<T>>;
}

/** What a dry run of one record prints (one record, `-n`). */
export interface DryRun {
  readonly schema: 1;
  readonly dryRun: true;
  readonly requests: readonly PlannedRequest[];
  readonly changes: readonly Change[];
}

/** What to ask before a single destructive write. */
export interface Confirmation {
  readonly question: string;
  /** For what must not happen by habit (a team delete): the name that has to be typed, or given with `flag`. */
  readonly typed?: {
    readonly name: string;
    readonly flag: string;
    readonly given: string | undefined;
  };
}

/** A command that changes something: `plan` reads, `apply` writes; `--dry-run` prints the plan. */
interface WriteCommand<
  A extends Params = Params,
  F extends Params = Params,
  T = unknown,
  S = unknown,
  C = Context,
> extends Described<A, F> {
  readonly view: View<T>;
  /** Checked before anything is read: sizes, files, flags that need reading. Throws UsageError, InputError. */
  check?(context: C, values: Values<A, F>): Promise<void> | void;
  plan(context: C, values: Values<A, F>): Promise<Plan<S>>;
  apply(context: C, plan: Plan<S>, values: Values<A, F>): Promise<T | Outcome<T> | Running>;
  /** Asked for before the write; a command that deletes must have it. */
  confirm?(plan: Plan<S>, values: Values<A, F>): Confirmation | undefined;
}

/** A command that changes records: the engine in `bulk/` carries it out. */
export interface OperationCommand<A extends Params = Params, F extends Params = Params>
  extends Described<A, F> {
  readonly view: View<never>;
  /** Whether it may ask before it writes. */
  readonly asks: boolean;
  /** What it does to each record; the engine's own type. */
  readonly operation: object;
  run(context: Context, values: Values<A, F>, words: readonly string[]): Promise<Shown>;
}

/** A value, how it is shown, and the exit code it stands for once it was shown. */
export interface Shown {
  readonly value: unknown;
  readonly view: View<never>;
  /** What stands before the value, whatever its format. */
  readonly head?: string | undefined;
  readonly exitName: ExitName;
  /** Nothing was changed, though the command could have. */
  readonly onlyReads?: boolean | undefined;
  /** Says what is to stand below the value, or instead of it where it could not be written out. */
  readonly printAfter?: (how: { readonly isShown: boolean }) => void;
  /** What is written down once the value was written out. */
  readonly written?: (() => Promise<void>) | undefined;
  /** The first of several things that failed; each was told by a line of its own. */
  readonly failed?: FailedOne | undefined;
  /** It tells what was done: when it cannot be written out, that is no good end, as it is for a list. */
  readonly isReport?: boolean;
  /** What runs after the value was shown; a signal ends it in the ordinary way. */
  readonly goOn?: () => Promise<void>;
  /** Ends what was begun, also where the value could not be written out. */
  readonly stop?: () => Promise<void>;
}

/** A value together with an exit code that is not 0 (several ids of which one was missing). */
export class Outcome<T> {
  constructor(
    readonly value: T,
    /** A function where it is known only when the value is written out. */
    private readonly exit: ExitName | (() => ExitName),
    readonly more: {
      /** What is written down once the value was written out. */
      readonly written?: (() => Promise<void>) | undefined;
      /** The first of several things that failed, known when the value is written out. */
      readonly failed?: () => FailedOne | undefined;
      /** What stands before the value, whatever its format. */
      readonly head?: string;
    } = {},
  ) {}

  get exitName(): ExitName {
    return typeof this.exit === 'function' ? this.exit() : this.exit;
  }
}

/** A run whose rows are shown as they come: how, and the exit code once the last one is out. */
export class Running {
  constructor(readonly shown: Shown) {}
}

/** A value that is shown while the command goes on, such as a server's address. */
export class Lasting<T> {
  constructor(
    readonly value: T,
    /** Runs after the value is written out; a signal is its ordinary end, with exit code 0. */
    readonly goOn: () => Promise<void>,
    /** Ends what was begun, also where the value could not be written out. */
    readonly stop: () => Promise<void>,
  ) {}
}

/** Any command, its types forgotten: what the table holds. */
export type Command =
  | ({ readonly kind: 'read'; readonly local: boolean } & ReadCommand<Params, Params, never, never>)
  | ({ readonly kind: 'write'; readonly local: boolean } & WriteCommand<
      Params,
      Params,
      never,
      unknown,
      never
    >)
  | ({ readonly kind: 'operation'; readonly local: false } & OperationCommand<Params, Params>);

/** A command that calls the service and changes nothing. */
export function defineCommand<A extends Params, F extends Params, T>(
  command: ReadCommand<A, F, T, Context>,
): Command {
  return { kind: 'read', local: false, ...command } as Command;
}

/** A command that needs no connection; it may `connect()` when it wants to. */
export function defineLocalCommand<A extends Params, F extends Params, T>(
  command: ReadCommand<A, F, T, LocalContext>,
): Command {
  return { kind: 'read', local: true, ...command } as Command;
}

/** A command that changes something at the service. */
export function defineWrite<A extends Params, F extends Params, T, S>(
  command: WriteCommand<A, F, T, S, Context>,
): Command {
  return { kind: 'write', local: false, ...command } as Command;
}

/** A command that changes something on this machine only. */
export function defineLocalWrite<A extends Params, F extends Params, T, S>(
  command: WriteCommand<A, F, T, S, LocalContext>,
): Command {
  return { kind: 'write', local: true, ...command } as Command;
}

// --- the table ---

/** Loads a command's file when it is run. */
type CommandLoader = () => Promise<{ readonly default: Command }>;

/** A noun and its verbs; a verb's key is the word typed. */
export interface Group {
  readonly about: string;
  readonly aliases: readonly string[];
  /** Its commands do the same for every organization, or name one themselves. */
  readonly everywhere?: true;
  readonly commands: { readonly [verb: string]: CommandLoader };
}

/** A table entry is a group (`teams list`) or a command of one word (`api`, `doctor`). */
export type CommandTable = { readonly [word: string]: Group | CommandLoader };

export type { Change, Plan };
