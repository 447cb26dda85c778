/** `rosterctl tryouts convert`: converts applications to players. */

import { allFlags, manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { flag } from '../../cli/define.js';
import { fieldFlags } from '../../cli/field-flags.js';
import { recordView } from '../../cli/views.js';
import { convertOperation } from '../../resources/tryout-convert.js';
import { ifStatusFlag } from '../../resources/tryout-edit.js';
import { tryoutExcludes, tryoutSelectionFlags } from '../../resources/tryout-filters.js';
import { idsBeside } from './shared.js';

export default defineOperation({
  summary: 'Convert applications to players',
  about:
    'Each application is read first: one that is already a player is left unchanged. ' +
    'Afterwards, the application is printed with its player. Fields set with -F are sent as typed; ' +
    'the service does not document which ones it accepts. A CSV of your own (not an export) may ' +
    'have columns for such fields. A conversion does not change the status; ' +
    "--accept sets it to accepted first, which triggers your organization's Flows (automations).",
  examples: [
    ['Turn an applicant into a player', 'app_0016'],
    ['Into a team', 'app_0022 -F teamId=team_0001'],
    ['Accept and convert; preview first', 'app_0006 --accept --dry-run'],
  ],
  calls: ['getTryout', 'convertTryout', 'updateTryout', 'listTryouts'],
  args: { ids: idsBeside() },
  flags: {
    accept: flag('set the status to accepted first', { group: 'change' }),
    ...fieldFlags,
    ...manyFlags({ ...tryoutSelectionFlags, ...allFlags, ...ifStatusFlag }),
  },
  excludes: tryoutExcludes,
  view: recordView('tryouts'),
  operation: convertOperation,
});
