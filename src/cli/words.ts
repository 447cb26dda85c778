/**
 * Schemas of words that may be anything or are one of a few. A command that needs no others starts
 * without zod, which costs as much as a quarter of a bare start.
 */

/** What says whether typed words are a value: a schema of zod, or one of these. */
export interface ValueSchema<T = unknown> {
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

/** A switch. */
export const given = schemaOf((value) => value === true);

/** One word. */
export const word = schemaOf((value) => (typeof value === 'string' ? value : undefined));

/** One word or none. */
export const optionalWord: ValueSchema<string | undefined> = {
  safeParse: (value) =>
    value === undefined ? { success: true, data: value } : word.safeParse(value),
};

/** Any number of words. */
export const anyWords = schemaOf((value): readonly string[] => (Array.isArray(value) ? value : []));

/** One of these words. */
export function oneOf<T extends string>(choices: readonly T[]): ValueSchema<T> {
  return { ...schemaOf((value) => choices.find((choice) => choice === value)), choices };
}

/** `read` gives undefined for what is no such value. */
function schemaOf<T>(read: (value: unknown) => T | undefined): ValueSchema<T> {
  return {
    safeParse(value) {
      const data = read(value);
      if (data !== undefined) return { success: true, data };
      return { success: false, error: { issues: [{ message: 'is missing', path: [] }] } };
    },
  };
}
