/** The template of an import: the columns that a file may have, as the records show them. */
import { serviceFields } from '../../api/records.js';
import { readWholeList } from '../../bulk/whole-list.js';
import { aliasKind } from '../../cli/column-aliases.js';
import { ValueWithExit } from '../../cli/command-output.js';
import type { View } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { isForbidden } from '../../data/outcome-errors.js';
import { type ResourceName, resourceWords } from '../../data/resources.js';
import { shellQuote } from '../../data/text.js';
import { GuardError } from '../../errors.js';
import { readOnlyFields } from '../update.js';
import { type SeenField, SeenFields } from './seen-fields.js';
import { readTeams, type Teams } from './teams.js';

type TemplateColumn = {
  /** The head to write. */
  readonly column: string;
  readonly field: string;
  /** The kind of its values. */
  readonly type: string;
};

/** The view of a template: its columns, and in csv a table to fill in. */
export const templateView: View<readonly TemplateColumn[]> = {
  columns: ['column', 'field', 'type'],
  csvRows: (columns) => [Object.fromEntries(columns.map(({ column }) => [column, '']))],
};

/**
 * Returns the columns for the fields that the records of a resource show; those that every import knows
 * if there are no records. A field with ids of teams, if `hasTeams`, goes by their names.
 */
export async function importTemplate(
  context: Context,
  resource: ResourceName,
  { hasTeams = false }: { readonly hasTeams?: boolean } = {},
): Promise<ValueWithExit<readonly TemplateColumn[]>> {
  const columns = await templateColumns(context, resource, hasTeams);
  const { out = '-', output, dryRun } = context.settings;
  const key = columns.some(({ field }) => field === 'email') ? 'email' : 'name';
  return new ValueWithExit(columns, 'done', {
    printAfter({ isShown }) {
      if (!isShown || dryRun || out === '-' || !/^(csv|xlsx)$/.test(output)) return;
      if (!context.streams.stderr.isTerminal) return;
      const file = shellQuote(out);
      context.note(`Fill it in, then import it: rosterctl ${resource} import ${file} --key ${key}`);
    },
  });
}

async function templateColumns(context: Context, resource: ResourceName, hasTeams: boolean) {
  const teams = hasTeams ? await teamsIfWhole(context) : undefined;
  const seen = new SeenFields(teams?.isId);
  await readWholeList(context, resource, (record) => seen.observe(record), {
    so: 'so the template may lack columns',
    mayBeEmpty: true,
  });
  if (seen.isEmpty) {
    context.note(
      `There are no ${resourceWords[resource].plural} yet, so their fields are not known. Add columns as you need them.`,
    );
    return [{ column: 'name', field: 'name', type: 'text' }];
  }
  const own = [...serviceFields, ...readOnlyFields(context, resource)];
  const isOpened = (name: string) => seen.names.some((other) => other.startsWith(`${name}.`));
  const names = seen.names.filter((name) => {
    const field = seen.get(name);
    return !own.includes(name) && field && !isInnerService(field) && !isOpened(name);
  });
  const holders = seen.teamFields;
  const namesTeams = names.some(
    (name) => aliasKind(name, resource) === 'team' && !holders.includes(name),
  );
  return names.map((field) => {
    const byName = holders.includes(field) && holders.length === 1 && !namesTeams;
    const isList = Array.isArray(seen.get(field)?.sample);
    if (!byName) return { column: field, field, type: typeWord(seen.get(field)?.sample) };
    return {
      column: 'Team',
      field,
      type: isList ? 'team names, separated by ;' : 'name of a team',
    };
  });
}

/** Returns the teams; undefined, with a note, if this key cannot list them or their list may be incomplete. */
async function teamsIfWhole(context: Context): Promise<Teams | undefined> {
  try {
    return await readTeams(context);
  } catch (error) {
    if (!isForbidden(error) && !(error instanceof GuardError)) throw error;
    context.note(
      'The list of teams cannot be read completely, so a column of teams takes their ids.',
    );
    return undefined;
  }
}

/** True for a field within a list that the service sets, and for every element but the first. */
function isInnerService({ path, inList }: Pick<SeenField, 'path' | 'inList'>): boolean {
  const isLater = path.some((key, at) => inList[at] && key !== '0');
  return isLater || (path.length > 1 && serviceFields.includes(path.at(-1) ?? ''));
}

function typeWord(sample: unknown): string {
  if (Array.isArray(sample)) return 'list, separated by ;';
  if (typeof sample === 'boolean') return 'true or false';
  return sample === undefined || typeof sample === 'string' ? 'text' : 'number';
}
