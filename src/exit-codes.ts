/** The exit codes of the tool, each defined once, and their order of severity. */

/** Every exit code, with the text that `help exit-codes` shows. */
export const exitCodes = {
  done: { code: 0, text: 'everything that you asked for was done and written out' },
  failed: {
    code: 1,
    text: 'any other failure: an unreadable answer, a problem with a local file, a bug',
  },
  usage: {
    code: 2,
    text: 'invalid usage, input or configuration, rejected before any request; a confirmation was needed',
  },
  invalid: { code: 3, text: 'the service refused the request as invalid (400 and other 4xx)' },
  unauthenticated: { code: 4, text: 'not authenticated: no key, or 401' },
  notFound: { code: 5, text: 'not found: 404' },
  conflict: { code: 6, text: 'conflict: 409' },
  forbidden: {
    code: 7,
    text: 'forbidden: 403 (permission, featureNotAvailable, other organization)',
  },
  rowsFailed: {
    code: 8,
    text: 'a bulk run finished and at least one row failed or conflicted; a backup is incomplete',
  },
  temporary: {
    code: 9,
    text: 'temporary: network, TLS, timeout, 429 or 5xx after all attempts; safe to run again',
  },
  unknownOutcome: {
    code: 10,
    text: 'outcome unknown: a request may have taken effect and reading could not settle it',
  },
  guarded: {
    code: 11,
    text: 'refused by a guard: --expect, --max-changes, a lock, an existing file, a reference that matches several records, a list that may be incomplete, a plan that no longer fits',
  },
  changesPending: {
    code: 12,
    text: 'with --exit-code: changes pending, findings, differences or new rows',
  },
  interrupted: { code: 130, text: 'SIGINT, or "no", Escape or Ctrl-C at a prompt' },
  terminated: { code: 143, text: 'SIGTERM' },
  hungUp: { code: 129, text: 'SIGHUP' },
} as const satisfies Record<string, { code: number; text: string }>;

export type ExitName = keyof typeof exitCodes;

/** The numbers alone, for comparisons: `exit.notFound === 5`. */
export const exit = Object.fromEntries(
  Object.entries(exitCodes).map(([name, row]) => [name, row.code]),
) as { readonly [N in ExitName]: (typeof exitCodes)[N]['code'] };

const bySeverity: readonly ExitName[] = [
  'hungUp',
  'terminated',
  'interrupted',
  'unauthenticated',
  'forbidden',
  'failed',
  'unknownOutcome',
  'temporary',
  'invalid',
  'conflict',
  'usage',
  'guarded',
  'notFound',
  'rowsFailed',
  'changesPending',
  'done',
];

/** Returns the most severe of several exit names, `done` if there are none. */
export function mostSevere(names: readonly ExitName[]): ExitName {
  return bySeverity.find((name) => names.includes(name)) ?? 'done';
}
