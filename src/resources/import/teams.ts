/** Finds the teams that the cells of an import name, and the field of players that holds their ids. */

import { readReferences } from '../../bulk/reference-index.js';
import type { Context } from '../../context.js';
import { isNumber, parseJson } from '../../data/json.js';
import { parseReference, referenceOf } from '../../data/references.js';
import { isSameText, shellQuote } from '../../data/text.js';
import { InputError, UsageError } from '../../errors.js';
import type { FieldTarget, FieldValue } from './cells.js';
import type { SeenFields } from './seen-fields.js';

/** The teams of the organization, by name and by id. */
export interface Teams {
  readonly isId: (text: string) => boolean;
  /** Names that were found in another spelling, with what they were taken for. */
  readonly respelled: ReadonlyMap<string, string>;
  nameOf(id: string): string;
  /**
   * Returns the value of a cell that names one team, several with `;` between them, or none as `[]`. Throws
   * InputError, which follows the column's name, for a name that no team or several have.
   */
  value(cell: string, target: FieldTarget): FieldValue;
}

/** Reads the whole list of teams. Throws GuardError if it may be incomplete. */
export async function readTeams(context: Context): Promise<Teams> {
  const index = await readReferences(context, 'teams', ['name']);
  const respelled = new Map<string, string>();
  const byId = (id: string) => index.find({ kind: 'id', value: id, text: id })[0];
  const idOf = (word: string): string => {
    const reference = word.startsWith('id:') ? parseReference(word) : referenceOf('name', word);
    const [team, ...others] = index.find(reference);
    if (!team) {
      const [near] = index.nearest({ ...reference, isPlain: true });
      const meant = near === undefined ? '' : ` Did you mean ${near}?`;
      throw new InputError(`holds "${word}", which is not a team.${meant}`);
    }
    if (others.length > 0)
      throw new InputError(
        `holds "${word}", but several teams have that name: ${[team, ...others].map(({ id }) => id).join(', ')}.`,
        { hint: `Write the id instead: id:${team.id}` },
      );
    if (reference.kind === 'name' && !isSameText(team.name ?? '', word))
      respelled.set(word, `${team.name} (${team.id})`);
    return team.id;
  };
  return {
    isId: (text) => byId(text) !== undefined,
    respelled,
    nameOf: (id) => byId(id)?.name ?? id,
    value(cell, target) {
      const word = cell.trim();
      const isOne = index.find(referenceOf('name', word)).length > 0;
      const words = isOne ? [word] : word.split(';').map((part) => part.trim());
      const ids = word === '[]' ? [] : words.filter((each) => each !== '').map(idOf);
      const typed = [...new Set(ids)].map((id) => asShown(id, target));
      if (Array.isArray(target.seen?.sample)) return { target, value: typed };
      if (ids.length === 1) return { target, value: typed[0] };
      throw new InputError(`holds ${ids.length} teams, but ${target.field} takes one.`);
    },
  };
}

/** Returns an id as the field shows ids: as text, or as a number. */
function asShown(id: string, { seen }: FieldTarget): unknown {
  const [sample] = [seen?.sample].flat();
  return isNumber(sample) && /^\d+$/.test(id) ? parseJson(id) : id;
}

/**
 * Returns the field that holds the ids of teams: the one typed, else the only one that holds ids of
 * teams in some record; undefined if there is none. Throws UsageError if there are several.
 */
export function teamTarget(typed: string | undefined, seen: SeenFields): FieldTarget | undefined {
  const [field, other] = typed === undefined ? seen.teamFields : [typed];
  if (other !== undefined)
    throw new UsageError(`Several fields hold ids of teams: ${seen.teamFields.join(', ')}.`, {
      hint: `Choose one: --team-field ${shellQuote(field ?? '')}`,
    });
  if (field === undefined) return undefined;
  const isTypedList = field.endsWith('[]');
  const name = isTypedList ? field.slice(0, -2) : field;
  const found = seen.get(name);
  const list = { path: name.split('.'), inList: [], sample: [] };
  return { field: name, seen: isTypedList && found?.sample === undefined ? list : found };
}
