/** The stable codes of the rules of `rosterctl check`. */

/** The rules that run unless `--only` names others. */
export const defaultCodes = [
  'waiting',
  'accepted.unconverted',
  'duplicate.email',
  'duplicate.discord',
  'time.future',
  'status.unknown',
] as const;

/** The rules that run only when `--only` names them. */
export const requestedCodes = [
  'duplicate.name',
  'duplicate.tag',
  'converted.notAccepted',
  'player.noTeam',
  'team.empty',
  'document.untagged',
] as const;

export type DefaultCode = (typeof defaultCodes)[number];
export type RequestedCode = (typeof requestedCodes)[number];
export type RuleCode = DefaultCode | RequestedCode;

/** All codes, in the order in which findings are printed. */
export const ruleCodes = [...defaultCodes, ...requestedCodes] as const;

/** How long an application may wait by default: two weeks. */
export const defaultPatience = '14d';
