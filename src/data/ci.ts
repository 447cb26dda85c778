/** Whether the variable `CI` says that nobody sits there: set, and neither empty, `0` nor `false`. */
export function runsInCi(env: { readonly [name: string]: string | undefined }): boolean {
  return !['', '0', 'false'].includes(env['CI'] ?? '');
}
