/** The environment variables of the process, and what they say about who is there. */

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** True if the variable `CI` is set and is neither empty, `0` nor `false`. */
export function runsInCi(env: Environment): boolean {
  return !['', '0', 'false'].includes(env['CI'] ?? '');
}
