/** Continuous integration: detects runs without a person. */

/** True if the variable `CI` is set and is neither empty, `0` nor `false`. */
export function runsInCi(env: { readonly [name: string]: string | undefined }): boolean {
  return !['', '0', 'false'].includes(env['CI'] ?? '');
}
