/** `rosterctl documents update`: changes the name, the tags or other fields of documents. */
import * as z from 'zod/mini';
import { manyFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { params } from '../../cli/define.js';
import { type FieldValues, fieldFlags } from '../../cli/field-flags.js';
import { listSelectionFlags } from '../../cli/filters.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { recordView } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { UsageError } from '../../errors.js';
import { untaggedFilters, untaggedSelection } from '../../resources/document-filters.js';
import { changedTags, type TagChange } from '../../resources/document-tags.js';
import { anyIdsArg, nameFlag, routeFlag } from '../../resources/params.js';
import { givenFields, updateOperation } from '../../resources/update.js';

const tagsFlag = (text: string) =>
  params(z.optional(z.array(nonEmptyText)), text, {
    placeholder: 'TAG',
    group: 'change',
    completes: 'value:documents:tags',
  });

export default defineOperation({
  summary: 'Change the name, the tags or other fields of documents',
  about:
    'The document is found in the list first, and only the fields that differ are sent. --tag sets the ' +
    "tags; to select by a tag, use: --where 'tags=TAG'.",
  examples: [
    ['Rename', "doc_0001 --name 'Player contract 2026'"],
    ['Add a tag and remove another', 'doc_0001 --add-tag signed --remove-tag draft'],
    ['Replace all tags', 'doc_0001 --tag legal --tag 2026-spring'],
  ],
  calls: ['listDocuments', 'updateDocument'],
  args: { ids: anyIdsArg('documents') },
  flags: {
    name: nameFlag('documents'),
    addTag: tagsFlag('add a tag'),
    removeTag: tagsFlag('remove a tag'),
    tag: tagsFlag('replace all tags with these'),
    ...fieldFlags,
    route: { ...routeFlag('documents', 'PUT'), rare: true },
    ...manyFlags({
      type: { ...untaggedFilters.type, rare: true },
      since: { ...untaggedFilters.since, rare: true },
      ...listSelectionFlags,
    }),
  },
  needsOneOf: [['name', 'addTag', 'removeTag', 'tag', 'set', 'setString', 'input', 'csv']],
  excludes: [
    ['tag', 'addTag'],
    ['tag', 'removeTag'],
  ],
  view: recordView('documents'),
  operation: updateOperation('documents', {
    filters: untaggedSelection,
    given({ tag, addTag, removeTag, set, setString }: TagChange & FieldValues) {
      const changesTags = [tag, addTag, removeTag].some((tags) => tags !== undefined);
      if (changesTags && givenFields({ set, setString }).has('tags'))
        throw new UsageError('You set the field tags twice. Keep one of them.');
      const both = addTag?.find((each) => removeTag?.includes(each));
      if (both !== undefined)
        throw new UsageError(`--add-tag and --remove-tag both name ${both}.`, {
          hint: 'Leave one of them out.',
        });
      return { tag, addTag, removeTag };
    },
    more: tagsOf,
  }),
});

function tagsOf(job: JsonObject, record: JsonObject | undefined): JsonObject {
  const change = job as TagChange;
  const { tag, addTag = [], removeTag = [] } = change;
  if (!tag && addTag.length + removeTag.length === 0) return {};
  return { tags: changedTags(record?.['tags'], change) };
}
