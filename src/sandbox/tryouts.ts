/** How the sandbox answers the endpoints of tryout applications, and which events it emits. */
import type { TryoutStatus } from '../api/schemas.js';
import type { JsonObject } from '../data/json.js';
import {
  checkName,
  checkTeams,
  type HandlerCall,
  type HandlersOf,
  listResponse,
  newRecord,
  ownRecord,
  ownRecords,
  recordReply,
} from './handler.js';
import { personality } from './personality.js';
import type { SandboxEvent, StoredRecord } from './records.js';
import { invalid, Refusal } from './refusal.js';

/** Tryout applications (contract 2.1, 2.3, 4.1, 4.4, 6). */
export const tryoutHandlers: HandlersOf<'tryouts'> = {
  listTryouts: (call) =>
    listResponse(
      ownRecords(call, 'tryouts').map((application) => withConverted(call, application)),
    ),

  getTryout: (call) =>
    recordReply(withConverted(call, ownRecord(call, 'tryouts', call.params.applicationId))),

  updateTryout(call) {
    const old = ownRecord(call, 'tryouts', call.params.applicationId);
    // The row's schema has checked their types.
    const { status, internalNotes } = call.body as {
      status?: TryoutStatus;
      internalNotes?: string | null;
    };
    if (status === undefined && internalNotes === undefined)
      throw invalid('at least one of status and internalNotes is needed');
    refuseDuplicate(call, old);
    const application: StoredRecord = {
      ...old,
      ...(status !== undefined && { status }),
      ...(internalNotes !== undefined && { internalNotes }),
      updatedAt: call.now.toISOString(),
    };
    call.steps.push(['put', 'tryouts', application]);
    const emits = call.strictEvents || status !== old['status'];
    if (status !== undefined && emits) emit(call, application.id, status);
    return {
      answer: 'update',
      records: { record: withConverted(call, application), old: withConverted(call, old) },
    };
  },

  convertTryout(call) {
    const old = ownRecord(call, 'tryouts', call.params.applicationId);
    if (typeof old['convertedPlayerId'] === 'string') {
      const code = personality.codes.alreadyConverted;
      throw new Refusal(409, code, `already converted to ${old['convertedPlayerId']}`);
    }
    checkName(call.body, 'optional');
    checkTeams(call);
    const player = newRecord(call, 'players', { ...playerFields(old), ...withTeamIds(call.body) });
    const application: StoredRecord = {
      ...old,
      convertedPlayerId: player.id,
      updatedAt: call.now.toISOString(),
    };
    call.steps.push(['put', 'players', player], ['put', 'tryouts', application]);
    return {
      answer: 'convert',
      records: { player, application: withPlayer(application, player) },
    };
  },
};

/** A status change and, where it is one, the acceptance or decline after it (contract section 6). */
function emit(call: HandlerCall, applicationId: string, status: TryoutStatus): void {
  const at = call.now.toISOString();
  const add = (kind: SandboxEvent['kind']) =>
    call.steps.push(['event', { kind, applicationId, at }]);
  add('tryout.status_changed');
  if (status === 'accepted') add('tryout.accepted');
  if (status === personality.declined) add('tryout.declined');
}

/** Contract 4.1 rule 3: e-mail or chat user already used on another application for the same form. */
function refuseDuplicate(call: HandlerCall, application: StoredRecord): void {
  const email = lowerCase(application['email']);
  const chatUser = application['discordUserId'];
  const duplicate = ownRecords(call, 'tryouts').find(
    (other) =>
      other.id !== application.id &&
      other['formId'] === application['formId'] &&
      (lowerCase(other['email']) === email ||
        (typeof chatUser === 'string' && other['discordUserId'] === chatUser)),
  );
  if (!duplicate) return;
  throw new Refusal(
    409,
    personality.codes.conflict,
    `the e-mail or Discord user is used on ${duplicate.id} of the same form`,
  );
}

const lowerCase = (email: unknown) => (typeof email === 'string' ? email.toLowerCase() : email);

/** The fields that a new player takes over from the application. */
function playerFields(application: StoredRecord): JsonObject {
  const { name, email, discordUserId, discordUsername, gamerTags } = application;
  return {
    name,
    email,
    discordUserId: discordUserId ?? null,
    discordUsername: discordUsername ?? null,
    gamerTags,
    teamIds: [],
  };
}

/** Turns a single `teamId` into the player's list of teams. */
function withTeamIds({ teamId, ...fields }: JsonObject): JsonObject {
  return typeof teamId === 'string' ? { teamIds: [teamId], ...fields } : fields;
}

/** The application with its player; null for a deleted one. */
function withConverted(call: HandlerCall, application: StoredRecord): JsonObject {
  const playerId = application['convertedPlayerId'];
  if (typeof playerId !== 'string') return application;
  return withPlayer(application, call.tables.records.players.get(playerId));
}

function withPlayer(application: StoredRecord, player: StoredRecord | undefined): JsonObject {
  return {
    ...application,
    convertedPlayer: player ? { id: player.id, name: player['name'] } : null,
  };
}
