import type { GlobalFlags } from '../config/settings.js';
import type { PlainCommand, PlainGroup } from '../data/plain-table.js';

export type RawValue = string | readonly string[] | boolean | undefined;
/** What stands on the command line, by parameter name. */
export type RawValues = Readonly<Record<string, RawValue>>;

/** A command line, understood as far as words and flags go; values are not parsed yet. */
export type Parsed =
  | { readonly kind: 'version' }
  | { readonly kind: 'start' }
  | {
      readonly kind: 'help';
      readonly of: PlainCommand | PlainGroup | undefined;
      readonly long: boolean;
    }
  | {
      readonly kind: 'command';
      readonly command: PlainCommand;
      readonly values: RawValues;
      readonly globals: GlobalFlags;
    };
