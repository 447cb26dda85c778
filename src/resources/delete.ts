/** Deletes teams, players and documents. */

import { endpoint } from '../api/contract.js';
import { callFor, resources } from '../api/resources.js';
import type { Filters } from '../cli/filters.js';
import { fieldNames } from '../cli/record-fields.js';
import type { Context } from '../context.js';
import type { ColumnRules } from '../data/csv-columns.js';
import { recordDigest } from '../data/digest.js';
import { labelOf, quotedName } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import type { ConfirmRule, Operation, Session } from '../engine/operation.js';
import { exportTime } from './params.js';
import { changing } from './send.js';

type DeleteJob = { readonly route?: string | undefined };

/** Deletes one or many records; `confirm: 'name'` allows one at a time and asks for its name. */
export function deleteOperation(
  resource: ResourceName,
  filters: Filters | undefined,
  confirm: ConfirmRule = 'count',
): Operation {
  return {
    resource,
    verb: 'delete',
    confirm,
    locksRows: true,
    ...(filters && { csv: idColumns(resource), filters }),
    job: async (_, { route }: DeleteJob) => ({ route }),
    open: (context, { route }: DeleteJob) => deleteSession(context, resource, route),
  };
}

/** The session of a delete: a missing record proves it, and a record that still exists was not deleted. */
export function deleteSession(
  context: Context,
  resource: ResourceName,
  route: string | undefined,
): Session {
  const { noun } = resources[resource];
  const deleteCall = (id: string) => ({ ...callFor(resource, 'delete', id), route });
  // Throws for an unusable route before anything is read.
  context.api.describe(deleteCall('any'));
  return {
    ...changing(context, resource, 'delete'),
    resends: 1,
    provenByAbsence: true,
    plan({ id }, { record }) {
      const call = deleteCall(id);
      const changes = [{ field: noun, from: labelOf(record, id), to: null }];
      return { steps: [{ call, changes, digest: recordDigest(record) }] };
    },
    image: ({ record }) => record && { kind: 'record', before: record },
    question({ id }, record) {
      return `Delete ${noun} ${quotedName(record, id)}?`;
    },
    present: (_, { id }) => ({ id, deleted: true }),
  };
}

/** The CSV columns of a delete: the id, and the time since which the record must not have changed. */
function idColumns(resource: ResourceName): ColumnRules {
  const { create } = resources[resource].calls;
  // Apart from common fields, the contract documents only the fields that a create sends.
  const body = create && endpoint(create).body;
  const shown = body ? fieldNames(body) : [];
  return {
    columns: [exportTime],
    exported: ['organizationId', 'createdAt', 'name', ...shown],
    open: false,
  };
}
