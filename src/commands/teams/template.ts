/** `rosterctl teams template`: prints the columns of a file to import. */
import { defineCommand } from '../../cli/define.js';
import { importTemplate, templateView } from '../../resources/import/template.js';

export default defineCommand({
  summary: 'Show the columns of a file to import',
  about:
    'The columns are the fields that your teams have, because the service does not document them. -o csv prints a table to fill in.',
  examples: [
    ['The columns', ''],
    ['A CSV to fill in', '-o csv --out new-teams.csv'],
  ],
  calls: ['listTeams'],
  view: templateView,
  run: (context) => importTemplate(context, 'teams'),
});
