/** The sandbox's choices where the contract is silent; none of them is the service's behaviour. The look of its answers is in shapes/. */
import type { JsonObject } from '../data/json.js';
import { resourceNamesOnWire } from './shapes/fields.js';
import { noShapes } from './shapes/shapes.js';
import type { AnswerName } from './shapes/table.js';
import { fillJson } from './shapes/template.js';

export const personality = {
  /** How long a signed download or preview URL works, in milliseconds. */
  linkMs: 5 * 60_000,
  /** How long a signed upload URL works, in milliseconds. */
  uploadMs: 15 * 60_000,
  /** The largest file, in bytes. */
  maxBytes: 25 * 1024 * 1024,
  /** The status that emits `tryout.declined` (contract section 6 does not name it). */
  declined: 'rejected',
  /** Error codes that the contract does not show (section 7). */
  codes: {
    notFound: 'notFound',
    conflict: 'conflict',
    alreadyConverted: 'alreadyConverted',
    methodNotAllowed: 'methodNotAllowed',
    fileTooLarge: 'fileTooLarge',
    payloadTooLarge: 'payloadTooLarge',
    internalError: 'internalError',
  },
} as const;

const statusOf = (answer: AnswerName) => noShapes.template(answer, '').status;

const listValues = { ...resourceNamesOnWire('teams'), rows: '<[…]>', total: '<n>' };
const list = JSON.stringify(fillJson(noShapes.template('list', '').json, listValues));
const links = Object.keys(noShapes.template('download', '').json as JsonObject);
const conversion = Object.keys(noShapes.template('convert', '').json as JsonObject);

const minutes = (ms: number) => `${ms / 60_000} minutes`;

/** The sandbox's inventions where the contract is silent, one sentence each, for `help sandbox`. */
export const inventions: readonly string[] = [
  `Lists answer ${list.replaceAll(/"<|>"/g, '')}, without pages; applications under "${resourceNamesOnWire('tryouts').resource}". Filters in the query are ignored.`,
  `Creating answers ${statusOf('create')} with the bare record; teams and players need a name. Unknown fields are stored as they are, numbers with the precision of a double.`,
  'An unknown field is refused with 400 where the contract shows every field: in updates of applications and in requests for upload URLs.',
  'Updating is PATCH: the fields sent replace the old ones, null clears; the answer is 200 with the record. PUT is refused with 405.',
  `Deleting answers ${statusOf('delete')}. When a team is deleted, its players lose it. When a player is deleted, the application keeps its convertedPlayerId, and its convertedPlayer is empty.`,
  'id, organizationId, createdAt and updatedAt in a body do not change a record.',
  `Converting answers ${statusOf('convert')} with {${conversion.join(', ')}}, keeps the status, takes an optional teamId and other fields; a second conversion is refused with 409 ${personality.codes.alreadyConverted}.`,
  'Any status may follow any other; new applications are pending. A change to the same status emits no event.',
  `tryout.declined is emitted for ${personality.declined}.`,
  'Applications carry a formId; an update is refused with 409 when another application of that form has the same e-mail (in any case) or the same Discord user, whatever its status.',
  `Downloads and previews answer {${links.map((name) => `"${name}"`).join(', ')}}; the URL works for ${minutes(personality.linkMs)} while the server runs, also for parts of a file.`,
  `Upload URLs work for ${minutes(personality.uploadMs)} while the server runs and take one file: the same bytes may be sent again, but no others. A file can be up to ${personality.maxBytes / 1024 / 1024} MiB.`,
  'One upload makes one document: the second is refused with 409. A document needs every field that the contract shows except the name; without a name, it is named after its key. Its fileUrl becomes private://sandbox-documents/KEY.',
  `Other error codes are ${personality.codes.notFound} (404), ${personality.codes.conflict} (409), ${personality.codes.methodNotAllowed} (405), ${personality.codes.fileTooLarge} and ${personality.codes.payloadTooLarge} (413); every error also carries a message.`,
  'Keys carry permissions named resource:action. To see what a restricted key may do, replace "full" in the printed key with read_only, no_documents, no_plan or other_org.',
  'A request without an organization id gets 400 invalidRequest; one for another organization gets 403 forbidden.',
  'Outside /v1, every request gets 401, with or without a key.',
];
