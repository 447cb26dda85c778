/** Column aliases: the names under which spreadsheets hold a field, beside its own. */
import { type ResourceName, resourceWords } from '../data/resources.js';
import { orList } from '../data/text.js';

/** The meaning of a column, by the field that it usually sets. */
type AliasKind = 'name' | 'email' | 'discordUserId' | 'discordUsername' | 'team';

const aliases: { readonly [K in AliasKind]: readonly string[] } = {
  name: ['Name', 'Full name', 'Display name'],
  email: ['E-Mail', 'Mail', 'E-mail address', 'Mail address'],
  discordUserId: ['Discord ID', 'Discord user ID'],
  discordUsername: ['Discord', 'Discord name', 'Discord username', 'Discord tag', 'Discord handle'],
  team: ['Team', 'Teams', 'Team name', 'Team names'],
};

/** Returns a column's or field's name without case, blanks, `-`, `_` and `.`. */
export function plainName(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s._-]/g, '');
}

/** The names of each kind for a resource: a team's own name may be in a column `Team`. */
function namesFor(resource: ResourceName): readonly (readonly [AliasKind, readonly string[]])[] {
  const { noun } = resourceWords[resource];
  const own = [noun, `${noun} name`];
  const isOwn = (name: string) => own.map(plainName).includes(plainName(name));
  return (Object.keys(aliases) as AliasKind[]).map((kind) => [
    kind,
    kind === 'name' ? [...aliases.name, ...own] : aliases[kind].filter((name) => !isOwn(name)),
  ]);
}

/** Returns what a column or field of this name holds; undefined for any other name. */
export function aliasKind(name: string, resource: ResourceName): AliasKind | undefined {
  const plain = plainName(name);
  return namesFor(resource).find(([kind, names]) =>
    [kind, ...names].some((alias) => plainName(alias) === plain),
  )?.[0];
}

/** How the values of a key compare: e-mail and Discord in any case, names best in the same, all else exactly. */
export type KeyComparison = 'anyCase' | 'sameCaseFirst' | 'exact';

/** Returns how the values of this field compare. */
export function keyComparison(field: string, resource: ResourceName): KeyComparison {
  const kind = aliasKind(field, resource);
  if (kind === 'name') return 'sameCaseFirst';
  return kind === undefined || kind === 'team' ? 'exact' : 'anyCase';
}

/** Lists the aliases, one line for each field, for the help. */
export function aliasRows(): readonly (readonly [field: string, names: string])[] {
  return Object.entries(aliases).map(([kind, names]) => [
    kind === 'team' ? 'teams, by name' : kind,
    orList(names),
  ]);
}
