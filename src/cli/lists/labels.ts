/** Labels: the human names of fields, as table heads show them and flags accept them. */

import type { JsonObject } from '../../data/json.js';
import { valueAt } from '../../data/path.js';

const labels: Readonly<Record<string, string>> = {
  submittedAt: 'Submitted',
  gamerTags: 'Games',
  email: 'E-mail',
  discordUsername: 'Discord',
  discordUserId: 'Discord id',
  formResponses: 'Answers',
  formId: 'Form',
  internalNotes: 'Notes',
  convertedPlayer: 'Player',
  convertedPlayerId: 'Player id',
  organizationId: 'Organization',
  sizeBytes: 'Size',
  contentType: 'Type',
  teamId: 'Team',
  teamIds: 'Teams',
  createdAt: 'Created',
  updatedAt: 'Updated',
  logoUrl: 'Logo',
  baseUrl: 'Base URL',
  lastAt: 'Last used',
};

/**
 * Returns the label of a field: `Submitted` for submittedAt, `Legacy ref` for legacyRef. A dotted path
 * and a name that is not made of plain words are their own label.
 */
export function fieldLabel(field: string): string {
  const known = Object.hasOwn(labels, field) ? labels[field] : undefined;
  if (known !== undefined) return known;
  if (!/^[a-zA-Z][a-zA-Z0-9]*(_[a-zA-Z0-9]+)*$/.test(field)) return field;
  const words = field
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the field with this label, in any case; undefined if none of the fields has it. */
export function fieldByLabel(label: string, fields: Iterable<string>): string | undefined {
  const wanted = label.trim().toLowerCase();
  for (const field of fields) {
    const own = fieldLabel(field);
    if (own !== field && own.toLowerCase() === wanted) return field;
  }
  return undefined;
}

/** Returns the field of a name or label; a name that a record has comes first. */
export function fieldNamed(name: string, records: readonly JsonObject[]): string {
  if (records.some((record) => valueAt(record, name) !== undefined)) return name;
  for (const record of records) {
    const field = fieldByLabel(name, Object.keys(record));
    if (field !== undefined) return field;
  }
  return name;
}
