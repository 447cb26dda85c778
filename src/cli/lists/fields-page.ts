/** The help page on fields: label, name and type of those that the contract documents. */
import { resourceNames, resourceWords } from '../../data/resources.js';
import { upperFirst } from '../../data/text.js';
import { documentedFields, fieldType } from '../record-fields.js';
import { fieldLabel } from './labels.js';

/** Returns the text of `rosterctl help fields`. */
export function fieldsPage(): string {
  return `Fields: label, name and type

A list in a terminal heads its columns with labels; -v shows the names below them.
--fields, --sort, --where, --if and columns.RESOURCE take both; a label may be typed in any
case, and counts where no field has that very name. Output has the names:

  rosterctl tryouts list --sort submitted --fields id,discord

${resourceNames.toReversed().map(section).join('\n\n')}

A label of another field is its name in words: legacyRef is Legacy ref. What your records
hold: rosterctl players list -L 1 --json`;
}

function section(resource: (typeof resourceNames)[number]): string {
  const fields = documentedFields(resource);
  const rows = fields.map(
    (field) => `  ${labelIn(field).padEnd(16)}${field.padEnd(24)}${fieldType(resource, field)}`,
  );
  const rest = fields.length > 1 ? '' : '\n  The service documents no others.';
  return `${upperFirst(resourceWords[resource].plural)} (rosterctl ${resource})\n${rows.join('\n')}${rest}`;
}

/** A nested field is named by its path. */
function labelIn(field: string): string {
  return field.includes('.') ? '' : fieldLabel(field);
}
