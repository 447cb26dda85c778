/** The stable codes of the rules of `rosterctl check`. */

/** The rules that run unless `--only` names others, and what each finds. */
const onByDefault = {
  waiting: 'pending for longer than --older-than',
  'accepted.unconverted': 'accepted and not a player yet',
  'duplicate.email': 'an e-mail address on several applications to one form',
  'duplicate.discord': 'a Discord user on several applications to one form',
  'time.future': 'a time more than an hour ahead',
  'status.unknown': 'a status that the service does not document',
} as const;

/** The rules that run only when `--only` names them. */
const onRequest = {
  'duplicate.name': 'a name on several applications to one form',
  'duplicate.tag': 'a gamer tag on several applications to one form',
  'converted.notAccepted': 'a player whose application is not accepted',
  'player.noTeam': 'a player in no team',
  'team.empty': 'a team without players',
  'document.untagged': 'a document without tags',
} as const;

export type DefaultCode = keyof typeof onByDefault;
export type RequestedCode = keyof typeof onRequest;
export type RuleCode = DefaultCode | RequestedCode;

export const defaultCodes = Object.keys(onByDefault) as readonly DefaultCode[];

/** All codes, in the order in which findings are printed. */
export const ruleCodes = Object.keys({ ...onByDefault, ...onRequest }) as readonly RuleCode[];

/** A sentence on each rule, for help. */
export const ruleHelp = `These rules run by default: ${explained(onByDefault)}. These run when --only names them: ${explained(onRequest)}.`;

function explained(found: Readonly<Record<string, string>>): string {
  return Object.entries(found)
    .map(([code, what]) => `${code} (${what})`)
    .join(', ');
}

/** How long an application may wait by default: two weeks. */
export const defaultPatience = '14d';
