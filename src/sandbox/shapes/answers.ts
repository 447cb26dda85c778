/** Turns what a handler replies, and a refusal, into the answer on the wire, and decides if its write takes effect. */
import { isObject, type JsonObject } from '../../data/json.js';
import type { ResourceName } from '../../data/resources.js';
import type { Rendered } from '../fault-answer.js';
import type { HandlerReply, ReplyRecords } from '../handler.js';
import { type LogStep, numberOfId, type StoredRecord, type Tables } from '../records.js';
import type { Refusal } from '../refusal.js';
import type { State } from '../state.js';
import { resourceNamesOnWire, toWire, wireId } from './fields.js';
import { pageOf } from './pages.js';
import type { Shapes } from './shapes.js';
import type { AnswerName } from './table.js';
import {
  fillHeaders,
  fillJson,
  fillText,
  type PlaceholderValues,
  type Template,
  wireText,
} from './template.js';

interface Asked {
  readonly shapes: Shapes;
  readonly resource: ResourceName;
  readonly organizationId: string;
  readonly url: URL;
  readonly fileOf: (key: string) => Promise<Buffer>;
}

/** The answer to a request that was carried out. Throws 400 for a page that does not exist. */
export async function renderReply(asked: Asked, reply: HandlerReply): Promise<Rendered> {
  const { shapes, resource, organizationId } = asked;
  const { answer, records = {} } = reply;
  const values: PlaceholderValues = {
    ...resourceNamesOnWire(resource),
    organization: organizationId,
    ...recordValues(shapes, resource, records),
    ...reply.values,
    ...(reply.rows && listValues(asked, reply.rows)),
  };
  if (answer === 'list') return renderList(shapes, resource, values);
  const template = shapes.template(answer, resource);
  const headers = shapes.headers(answer, resource);
  const key = records.record?.['fileKey'];
  if (template.text === '$file' && typeof key === 'string') {
    const type = { 'content-type': String(records.record?.['contentType']), ...headers };
    const bytes = await asked.fileOf(key);
    return { status: template.status ?? 200, headers: fillHeaders(type, values), bytes };
  }
  return render(template, headers, values, 200);
}

/** A refusal as it is shaped; `status` is its status where the template has none. */
export function renderRefusal(
  shapes: Shapes,
  { status, code, message, headers }: Refusal,
): Rendered {
  const of = String(status);
  const rendered = render(
    shapes.template('error', of),
    shapes.headers('error', of),
    { status, code, message },
    status,
  );
  return { ...rendered, headers: { ...headers, ...rendered.headers } };
}

function renderList(shapes: Shapes, resource: ResourceName, values: PlaceholderValues): Rendered {
  const isEmpty = values['total'] === 0;
  const special = isEmpty ? 'list.empty' : values['more'] === true ? '' : 'list.last';
  const key = special !== '' && shapes.given(special, resource) !== undefined ? special : 'list';
  const template = shapes.template(key, resource);
  const paging = shapes.headers('paging', resource);
  const headers = { ...paging, ...shapes.headers('list', resource) };
  const text = shapes.value(key, resource);
  const adds = /^\w+$/.test(text) ? shapes.template('paging', resource).json : undefined;
  const json =
    isObject(template.json) && isObject(adds) ? { ...template.json, ...adds } : template.json;
  return render({ ...template, json }, headers, values, 200);
}

function recordValues(
  shapes: Shapes,
  resource: ResourceName,
  records: ReplyRecords,
): PlaceholderValues {
  const { record, old, player, application } = records;
  const shown = record ?? old ?? application;
  const wire = (of: ResourceName, each: JsonObject | undefined) => each && toWire(shapes, of, each);
  return {
    record: wire(resource, record),
    old: wire(resource, old),
    player: wire('players', player),
    application: wire('tryouts', application),
    id: shown && wireId(shapes, resource, shown['id']),
    playerId: player && wireId(shapes, 'players', player['id']),
  };
}

function listValues(
  { shapes, resource, url }: Asked,
  rows: readonly JsonObject[],
): PlaceholderValues {
  const all = rows.map((record) => ({
    id: wireId(shapes, resource, record['id']),
    record: toWire(shapes, resource, record),
  }));
  return pageOf({ shapes, resource, url }, all);
}

function render(
  template: Template,
  headerTemplates: JsonObject,
  values: PlaceholderValues,
  otherwise: number,
): Rendered {
  const { status = otherwise, json, text = '' } = template;
  const headers = fillHeaders(headerTemplates, values);
  if (json !== undefined) {
    const filled = fillJson(json, values);
    if (filled === undefined) return { status, headers };
    return withBody(status, 'application/json', headers, JSON.stringify(filled));
  }
  const filled = text === '' ? '' : wireText(fillText(text, values));
  if (filled === '') return { status, headers };
  if (status >= 300 && status < 400) return { status, headers: { location: filled, ...headers } };
  const type = filled.startsWith('<') ? 'text/html' : 'text/plain';
  return withBody(status, type, headers, filled);
}

function withBody(
  status: number,
  type: string,
  headers: Readonly<Record<string, string>>,
  text: string,
): Rendered {
  return { status, headers: { 'content-type': type, ...headers }, bytes: Buffer.from(text) };
}

interface Written {
  readonly answer: AnswerName;
  readonly resource: ResourceName;
  /** The changes that the handler asks for; those that remain are applied now. */
  readonly steps: LogStep[];
  readonly tables: Tables;
  readonly now: Date;
}

export interface Effects {
  /** Drops, keeps or changes the steps of a write as `<answer>.effect` says. */
  decide(written: Written): void;
  /** Applies what the reads so far did not show yet. */
  afterRead(state: State): Promise<void>;
}

/** Decides if writes take effect, whatever their answers say. */
export function createEffects(shapes: Shapes): Effects {
  const late: LogStep[] = [];
  return {
    decide({ answer, resource, steps, tables, now }) {
      const effect = shapes.value(`${answer}.effect`, resource);
      if (effect === 'none') steps.splice(0);
      if (effect === 'soft') steps.splice(0, steps.length, ...steps.map(softened(tables, now)));
      if (effect !== 'late') return;
      const held = steps.splice(0);
      for (const step of held) if (step[0] === 'put') reserve(tables, step[1], step[2]);
      late.push(...held);
    },
    async afterRead(state) {
      if (late.length === 0) return;
      const held = late.splice(0);
      await state.change((_, steps) => void steps.push(...held));
    },
  };
}

/** A deleted record stays, with the time of its deletion. */
function softened(tables: Tables, now: Date) {
  return (step: LogStep): LogStep => {
    const record = step[0] === 'delete' ? tables.records[step[1]].get(step[2]) : undefined;
    if (step[0] !== 'delete' || !record) return step;
    return ['put', step[1], { ...record, deletedAt: now.toISOString() }];
  };
}

/** No later create takes the id of a record that is not visible yet. */
function reserve(tables: Tables, resource: ResourceName, { id }: StoredRecord): void {
  tables.lastNumber[resource] = Math.max(tables.lastNumber[resource], numberOfId(id) ?? 0);
}
