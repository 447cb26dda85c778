import * as z from 'zod/mini';
import { manyFlags } from '../../cli/bulk-flags.js';
import { defineWrite, params } from '../../cli/define.js';
import { fieldFlags, type FieldValues, readFields, touchedFields } from '../../cli/field-flags.js';
import { recordOf } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { UsageError } from '../../errors.js';
import { anyIdsOf, documents, nameFlag, routeFlag } from '../kinds.js';
import { listSelectionFlags, updateMany } from '../records-many.js';
import { sharedSource } from '../read-records.js';
import { applyUpdate, planUpdate } from '../update-records.js';
import { untaggedFilters, untaggedSelection } from './filters.js';

const tagsFlag = (text: string) =>
  params(z.optional(z.array(z.string().check(z.minLength(1, 'must not be empty')))), text, {
    placeholder: 'TAG',
    group: 'change',
  });

export default defineWrite({
  summary: 'Change the name, the tags or other fields of documents',
  about:
    'The document is looked for in the list first and only fields that differ are sent. --tag is the ' +
    "new value; to select by a tag: --where 'tags=TAG'. " +
    'The route is a guess: the contract does not show it.',
  examples: [
    ['Rename', "doc_0001 --name 'Player contract 2026'"],
    ['One tag more, one less', 'doc_0001 --add-tag signed --remove-tag draft'],
    ['Replace all tags', 'doc_0001 --tag legal --tag 2026-spring'],
  ],
  calls: ['listDocuments', 'updateDocument'],
  args: { ids: anyIdsOf(documents) },
  flags: {
    name: nameFlag(documents),
    addTag: tagsFlag('add a tag'),
    removeTag: tagsFlag('remove a tag'),
    tag: tagsFlag('replace all tags by these'),
    ...fieldFlags,
    route: routeFlag(documents, 'PUT'),
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
  view: recordOf('documents'),
  ids: ({ ids }) => ids,
  bulk: updateMany(documents, readJob, tagsOf, untaggedSelection),
  async check(context, values) {
    await readFields(context, values, { name: values.name });
  },
  async plan(context, values, id) {
    const { route, tag, addTag = [], removeTag = [] } = values;
    const typed = await readFields(context, values, { name: values.name });
    const needsTags = addTag.length + removeTag.length > 0;
    const wantedOf = (record: JsonObject | undefined): JsonObject => ({
      ...touchedFields(typed, record),
      ...(tag && { tags: [...new Set(tag)] }),
      ...(needsTags && { tags: editedTags(record, addTag, removeTag) }),
    });
    return planUpdate(context, documents, id, wantedOf, {
      route,
      // Without the present tags nothing can be added to them.
      alone: values.ids.length === 1 && !needsTags,
      source: sharedSource(context, documents, values),
    });
  },
  apply(context, plan, values, id) {
    return applyUpdate(context, documents, plan, id, sharedSource(context, documents, values));
  },
});

interface TagValues {
  readonly tag?: readonly string[] | undefined;
  readonly addTag?: readonly string[] | undefined;
  readonly removeTag?: readonly string[] | undefined;
}

async function readJob(
  context: Parameters<typeof readFields>[0],
  values: FieldValues & TagValues & { name?: string; route?: string },
) {
  const { tag, addTag, removeTag, route } = values;
  return {
    typed: await readFields(context, values, { name: values.name }),
    ...(route !== undefined && { route }),
    ...(tag && { tag }),
    ...(addTag && { addTag }),
    ...(removeTag && { removeTag }),
  };
}

function tagsOf(job: JsonObject, record: JsonObject | undefined): JsonObject {
  const { tag, addTag = [], removeTag = [] } = job as TagValues;
  if (tag) return { tags: [...new Set(tag)] };
  return addTag.length + removeTag.length > 0
    ? { tags: editedTags(record, addTag, removeTag) }
    : {};
}

function editedTags(
  record: JsonObject | undefined,
  added: readonly string[],
  removed: readonly string[],
): readonly unknown[] {
  const present: unknown = record?.['tags'] ?? [];
  if (!Array.isArray(present))
    throw new UsageError('The tags of this document are no list; replace them with --tag.');
  const kept = (present as unknown[]).filter((tag) => !removed.some((gone) => gone === tag));
  return [...new Set([...kept, ...added])];
}
