/** Answers to writes: what a service may say to a create, an update, a delete or a conversion. */
import type { Shape } from './cell.js';

type Verb = 'create' | 'update' | 'delete' | 'convert';

/** The record that each kind of write shows. */
const shown: Readonly<Record<Verb, string>> = {
  create: '"$record"',
  update: '"$record"',
  delete: '"$old"',
  convert: '"$player"',
};
const idIn: Readonly<Record<Verb, string>> = {
  create: '"$id"',
  update: '"$id"',
  delete: '"$id"',
  convert: '"$playerId"',
};

/** Answers by name; RECORD and ID stand for those of the verb. */
const answers: Readonly<Record<string, string>> = {
  record: '201 RECORD',
  wrapped: '200 {"$singular":RECORD}',
  data: '200 {"data":RECORD}',
  'result, wrapped': '200 {"result":{"$singular":RECORD}}',
  'an array of one': '200 [RECORD]',
  'the record as it was': '200 "$old"',
  'id alone': '201 {"id":ID}',
  'data.id': '201 {"data":{"id":ID}}',
  playerId: '201 {"playerId":ID}',
  insertedId: '201 {"insertedId":ID}',
  '201, empty': '201',
  '200, empty': '200',
  '204': '204',
  '202, empty': '202',
  '202 accepted': '202 {"status":"accepted"}',
  'a job': '202 {"job":{"id":"job_1","status":"queued"}}',
  text: '200 OK',
  'text of an error': '200 Error: the roster is locked',
  'a web page': '200 <html><title>Sign in</title></html>',
  'success: true': '200 {"success":true}',
  'ok: true': '200 {"ok":true}',
  'status: ok': '200 {"status":"ok"}',
  message: '200 {"message":"Saved."}',
  'no object': '200 {}',
  null: '200 null',
  'empty array': '200 []',
  'data: null': '200 {"data":null}',
  'success: false': '200 {"success":false}',
  'success: false, a message': '200 {"success":false,"message":"The roster is locked."}',
  'ok: false, error': '200 {"ok":false,"error":"locked"}',
  'error beside null': '200 {"error":"locked","data":null}',
  'error as an object': '200 {"error":{"code":"locked","message":"The roster is locked."}}',
  errors: '200 {"errors":[{"message":"The roster is locked."}]}',
  'errors as a map': '200 {"errors":{"name":["is taken"]}}',
  'status: error': '200 {"status":"error","message":"The roster is locked."}',
  'status: fail': '200 {"status":"fail","data":{"name":"is taken"}}',
  'code: 409': '200 {"code":409,"message":"The roster is locked."}',
  'statusCode: 400': '200 {"statusCode":400,"message":"no"}',
  'code: 40001': '200 {"code":40001,"message":"no"}',
  'error: null beside the record': '200 {"error":null,"data":RECORD}',
  'errors: [] beside the record': '200 {"errors":[],"data":RECORD,"success":true}',
  'code: 1000 beside the record': '200 {"code":1000,"message":"OK","data":RECORD}',
  'code: 1000': '200 {"code":1000,"message":"OK"}',
  'record beside an error': '200 {"data":RECORD,"error":"mailNotSent"}',
  'record beside success: false': '200 {"data":RECORD,"success":false}',
  'another id': '200 {"id":"other_9999","name":"Other"}',
  'the organization': '200 {"organization":{"id":"org_demo","name":"Org"}}',
  'a user': '200 {"user":{"id":"user_7","name":"Kim"}}',
  'record beside the actor': '200 {"actor":{"id":"user_7"},"$singular":RECORD}',
  'a job, 200': '200 {"job":{"id":"job_1"}}',
  '301': '301 /v1/$resource/moved',
  '302': '302 /v1/$resource/moved',
  '303': '303 /v1/$resource/moved',
  '303, elsewhere': '303 FOREIGN/v1/done',
  '307': '307 FOREIGN/v1/$resource',
  '308': '308 FOREIGN/v1/$resource',
  '500': '500 {"error":"internal"}',
  '400': '400 {"error":"invalidRequest","message":"The roster is locked."}',
  '409': '409 {"error":"conflict","message":"The roster is locked."}',
  '404': '404 {"error":"notFound"}',
};

/** The service did what was asked; these answers are no "no", and the tool finds out. */
const understood = new Set([
  ...['record', 'wrapped', 'data', 'result, wrapped', 'id alone', 'data.id', '201, empty'],
  ...['200, empty', '204', 'success: true', 'ok: true', 'status: ok', 'message', 'no object'],
  ...['error: null beside the record', 'errors: [] beside the record'],
  ...['code: 1000 beside the record', 'record beside an error', 'record beside the actor'],
]);

function shapesOf(verb: Verb): readonly Shape[] {
  return Object.entries(answers).flatMap(([name, answer]) => {
    const template = answer.replaceAll('RECORD', shown[verb]).replaceAll('ID', idIn[verb]);
    const base = {
      table: verb,
      shapes: [`${verb}=${template}`],
      // A create is told by its answer alone; the others are read again.
      ...(understood.has(name) && { promise: 'right' as const }),
    };
    // Whoever says "not done" and does it lies; nobody has to notice.
    const isDenied = /^(4|307|308)/.test(template);
    return [
      ...(isDenied ? [] : [{ ...base, name: `${name}, done` }]),
      {
        table: verb,
        name: `${name}, not done`,
        shapes: [...base.shapes, `${verb}.effect=none`],
      },
    ];
  });
}

const special: Readonly<Record<Verb, readonly Shape[]>> = {
  create: [
    {
      table: 'create',
      name: 'Location, done',
      shapes: ['create=201', 'create.headers={"Location":"/v1/$resource/$organization/$id"}'],
      promise: 'right',
    },
    {
      table: 'create',
      name: 'Location, not done',
      shapes: [
        'create=201',
        'create.headers={"Location":"/v1/$resource/$organization/$id"}',
        'create.effect=none',
      ],
    },
  ],
  update: [
    { table: 'update', name: '204, done late', shapes: ['update=204', 'update.effect=late'] },
    { table: 'update', name: 'record, done late', shapes: ['update.effect=late'] },
  ],
  delete: [
    { table: 'delete', name: '204, done late', shapes: ['delete=204', 'delete.effect=late'] },
    {
      table: 'delete',
      name: '204, marked as deleted',
      shapes: ['delete=204', 'delete.effect=soft'],
    },
    {
      table: 'delete',
      name: 'record, marked as deleted',
      shapes: ['delete=200 "$old"', 'delete.effect=soft'],
    },
  ],
  convert: [
    {
      table: 'convert',
      name: 'both, done',
      shapes: ['convert=201 {"player":"$player","application":"$application"}'],
      promise: 'right',
    },
    {
      table: 'convert',
      name: 'the application, done',
      shapes: ['convert=200 "$application"'],
      promise: 'right',
    },
    {
      table: 'convert',
      name: 'convertedPlayerId, done',
      shapes: ['convert=200 {"convertedPlayerId":"$playerId"}'],
      promise: 'right',
    },
    { table: 'convert', name: '204, done late', shapes: ['convert=204', 'convert.effect=late'] },
  ],
};

/** Every answer to a kind of write, to one that was carried out and to one that was not. */
export const answersTo = (verb: Verb): readonly Shape[] => [...shapesOf(verb), ...special[verb]];
