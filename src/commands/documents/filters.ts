import * as z from 'zod/mini';
import { param, params } from '../../cli/define.js';
import type { RecordTest } from '../../cli/filters.js';

const group = 'selection';

/** The filter that says no tag; an update has it as well. */
export const typeFilter = {
  type: param(z.optional(z.string()), 'documents of this content type; image/ for every image', {
    group,
  }),
};

/** The filters that only documents have. Where tags are written, `--tag` is their new value instead. */
export const documentFilters = {
  tag: params(
    z.optional(z.array(z.string())),
    'documents that have this tag; several: all of them',
    { group },
  ),
  ...typeFilter,
};

/** The filters given, as tests of a record. */
export function documentTests({
  tag = [],
  type,
}: {
  readonly tag?: readonly string[] | undefined;
  readonly type?: string | undefined;
}): RecordTest[] {
  return [...tag.map(hasTag), ...(type === undefined ? [] : [isOfType(type)])];
}

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
