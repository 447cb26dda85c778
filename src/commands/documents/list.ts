import * as z from 'zod/mini';
import { defineCommand, param, params } from '../../cli/define.js';
import { listFlags, narrow, type RecordTest } from '../../cli/filters.js';
import { listed } from '../../cli/listed.js';
import { listOf } from '../../cli/views.js';

export default defineCommand({
  summary: 'List the documents',
  examples: [
    ['All documents', ''],
    ['Those with a tag', '--tag contract'],
    ['The PDF files, newest first', '--type application/pdf --sort createdAt:desc'],
  ],
  calls: ['listDocuments'],
  flags: {
    tag: params(
      z.optional(z.array(z.string())),
      'documents that have this tag; several: all of them',
      {
        group: 'selection',
      },
    ),
    type: param(z.optional(z.string()), 'documents of this content type; image/ for every image', {
      group: 'selection',
    }),
    ...listFlags,
  },
  view: listOf('documents'),
  run(context, values) {
    const { usualOrder } = context;
    const { tag = [], type } = values;
    const tests = [...tag.map(hasTag), ...(type === undefined ? [] : [isOfType(type)])];
    return narrow(listed(context, 'documents'), values, {
      resource: 'documents',
      tests,
      usualOrder,
    });
  },
});

function hasTag(tag: string): RecordTest {
  return {
    holds: (record) => Array.isArray(record['tags']) && record['tags'].includes(tag),
    field: { name: 'tags', on: (record) => Object.hasOwn(record, 'tags') },
  };
}

function isOfType(type: string): RecordTest {
  return {
    holds({ contentType }) {
      if (typeof contentType !== 'string') return false;
      return type.endsWith('/') ? contentType.startsWith(type) : contentType === type;
    },
    field: { name: 'contentType', on: (record) => Object.hasOwn(record, 'contentType') },
  };
}
