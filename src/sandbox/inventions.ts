import { defaultPersonality as chosen } from './personality.js';

const minutes = (ms: number) => `${ms / 60_000} minutes`;

/** What the sandbox invents where the contract is silent, one sentence each, for `help sandbox`. */
export const inventions: readonly string[] = [
  `Lists answer {"${chosen.listKeys.teams}": […], "total": n}, without pages; applications under "${chosen.listKeys.tryouts}". Query filters are ignored.`,
  `Creating answers ${chosen.createdStatus} with the bare record; teams and players need a name. Unknown fields are stored as they are.`,
  'Updating is PATCH: the fields sent replace the old ones, null clears; the answer is 200 with the record. PUT is refused with 405.',
  `Deleting answers ${chosen.deletedStatus}. A deleted team leaves its players without it; a deleted player leaves the application's convertedPlayerId and an empty convertedPlayer.`,
  'id, organizationId, createdAt and updatedAt in a body do not change a record.',
  `Converting answers ${chosen.createdStatus} with {player, application}, keeps the status, takes an optional teamId and other fields; a second conversion is refused with 409 ${chosen.codes.alreadyConverted}.`,
  'Any status may follow any other; new applications are pending. A change to the same status emits no event.',
  `tryout.declined is emitted for ${chosen.declined.join(', ')}.`,
  'Applications carry a formId; an update is refused with 409 when another application of that form has the same e-mail (in any case) or the same Discord user, whatever its status.',
  `Downloads and previews answer {"url", "expiresAt"}; the URL works for ${minutes(chosen.linkMs)}, also for parts of a file.`,
  `Upload URLs work for ${minutes(chosen.uploadMs)} and take one file: the same bytes may be sent again, others not. The largest file has ${chosen.maxBytes / 1024 / 1024} MiB.`,
  'One upload makes one document: the second is refused with 409. A document without a name is named after its key. Its fileUrl becomes private://sandbox-documents/KEY.',
  `Other error codes are ${chosen.codes.notFound} (404), ${chosen.codes.conflict} (409), ${chosen.codes.methodNotAllowed} (405), ${chosen.codes.fileTooLarge} and ${chosen.codes.payloadTooLarge} (413); every error also carries a message.`,
  'Keys carry permissions named resource:action. Of the printed key, replace "full" by read_only, no_documents, no_plan or other_org to see what such a key may do.',
  'An organization id that is missing is answered with 400 invalidRequest, another one with 403 forbidden.',
  'Outside /v1 every request is answered with 401, with or without a key.',
];
