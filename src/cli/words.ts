/**
 * Schemas for arguments that are any word or one of a few. A command that needs no others starts
 * without zod, which would add a quarter of the start-up time of bare Node.
 */

/** Validates a parameter's input: a zod schema, or one of the schemas below. */
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

/** The schema of a switch. */
export const switchValue = schemaOf((value) => value === true);

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
