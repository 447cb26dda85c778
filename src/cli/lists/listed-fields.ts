/** Fields named with --fields or --template: which of them some record of a list has, including records that a filter leaves out. */

import type { Settings } from '../../config/settings.js';
import { type Batches, batchesOf, type RecordStream, recordStream } from '../../data/batches.js';
import type { JsonObject } from '../../data/json.js';
import { hasPath } from '../../data/path.js';
import type { ResourceName } from '../../data/resources.js';
import { isDocumented } from '../record-fields.js';
import type { ReadFields } from '../views.js';
import { chosenFields } from './template.js';

/** Notes which of the typed fields some record of the list has. */
export class ListedFields implements ReadFields {
  readonly seen = new Set<string>();
  readonly first: JsonObject[] = [];
  private missing: readonly string[];

  constructor(typed: Pick<Settings, 'fields' | 'template'>, resource: ResourceName) {
    this.missing = chosenFields(typed).filter((field) => !isDocumented(resource, field));
  }

  observing(records: AsyncIterable<JsonObject>): RecordStream<JsonObject> {
    const observed = async function* (fields: ListedFields): Batches<JsonObject> {
      for await (const batch of batchesOf(records)) {
        for (const record of batch) fields.observe(record);
        yield batch;
      }
    };
    return recordStream(() => observed(this));
  }

  observe(record: JsonObject): void {
    if (this.missing.length === 0) return;
    if (this.first.length < sampleSize) this.first.push(record);
    for (const field of this.missing) if (hasPath(record, field)) this.seen.add(field);
    this.missing = this.missing.filter((field) => !this.seen.has(field));
  }
}

/** How many records an error takes its known fields from. */
const sampleSize = 50;
