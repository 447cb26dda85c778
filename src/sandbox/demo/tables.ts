/** The tables of a fresh sandbox: one invented organization with teams, players, documents and applications. */

import { demoOrganization } from '../../config/profiles.js';
import type { JsonObject } from '../../data/json.js';
import { type ResourceName, resourceNames } from '../../data/resources.js';
import { documentRefOf } from '../documents.js';
import {
  emptyTables,
  putRecord,
  recordId,
  type SeedChoice,
  type SeedSize,
  type StoredRecord,
  type Tables,
} from '../records.js';
import {
  applicant,
  applicantTags,
  applicationCounts,
  conversions,
  demoApplications,
  demoGamerTag,
  demoPerson,
  gameAt,
} from './applications.js';
import { demoDocuments, demoFileKey } from './documents.js';

const dayMs = 86_400_000;

/** Makes the tables; the same for the same choice. */
export function seedTables({ size, at }: SeedChoice): Tables {
  const tables = emptyTables();
  for (const resource of resourceNames)
    for (const made of seeds[resource](new Date(at), size)) putRecord(tables, resource, made);
  return tables;
}

const seeds: {
  readonly [R in ResourceName]: (now: Date, size: SeedSize) => readonly StoredRecord[];
} = {
  teams: (now) =>
    teams.map((fields, index) => record('teams', index, 400 - index * 30, fields, now)),
  players: (now) => [
    ...roster.map(({ teamNumbers, role }, index) =>
      record('players', index, 200, player(index, teamNumbers, role, now), now),
    ),
    ...conversions.map(([index], joined) =>
      record(
        'players',
        roster.length + joined,
        30 - joined,
        convert(index, conversionTeams[joined] ?? [], now),
        now,
      ),
    ),
  ],
  documents: (now) =>
    demoDocuments.map(({ daysAgo }, index) =>
      record('documents', index, daysAgo, filed(index), now),
    ),
  tryouts: (now, size) => demoApplications(applicationCounts[size], now),
};

const teams: readonly JsonObject[] = [
  team('Falkenmoor Vanguard', 'FMV', 'Valorant', 'Premier squad'),
  team('Lanternfish', 'LNT', 'League of Legends', 'Academy, under 20'),
  team('Cobalt Herons', 'COB', 'Counter-Strike 2', null),
  team('Gravel Comets', 'GRC', 'Rocket League', 'Three and a substitute'),
  // Without players.
  team('Paper Lions', 'PPL', 'Overwatch 2', 'Tryouts are open'),
  // A field sport: no game.
  team('Harbour Lane Eleven', 'HLE', undefined, 'Field football, Sundays'),
];

/** The teams, by number, and the role of each player who did not come from an application. */
const roster: readonly { teamNumbers: readonly number[]; role: string }[] = [
  ...members(1, ['Duelist', 'Initiator', 'Controller', 'IGL', 'Head coach']),
  ...members(2, ['Top', 'Jungle', 'Mid', 'Bot', 'Support', 'Substitute', 'Analyst']),
  ...members(3, ['AWPer', 'Entry', 'Lurker', 'Rifler', 'Manager']),
  ...members(4, ['Captain', 'Striker', 'Goalkeeper']),
  { teamNumbers: [4, 6], role: 'Substitute' },
  ...members(6, ['GK', 'DF', 'MF', 'FW', 'Captain']),
  { teamNumbers: [], role: 'Trial' },
];

/** The teams that the four converted applicants joined; one joined none. */
const conversionTeams: readonly (readonly number[])[] = [[1], [1], [], [3]];

function team(
  name: string,
  shortName: string,
  game: string | undefined,
  description: string | null,
): JsonObject {
  const logoUrl = `https://example.com/logos/${shortName.toLowerCase()}.png`;
  return { name, shortName, ...(game !== undefined && { game }), description, logoUrl };
}

function members(teamNumber: number, roles: readonly string[]) {
  return roles.map((role) => ({ teamNumbers: [teamNumber], role }));
}

const staff = new Set(['Head coach', 'Analyst', 'Manager']);

function player(
  index: number,
  teamNumbers: readonly number[],
  role: string,
  now: Date,
): JsonObject {
  const { nick, ...self } = demoPerson(index);
  const game = teams[(teamNumbers[0] ?? 1) - 1]?.['game'];
  const at = new Date(now.getTime() - 200 * dayMs).toISOString();
  const tag = {
    id: `tag_p${String(index + 1).padStart(4, '0')}`,
    game,
    gamerTag: demoGamerTag({ nick }),
  };
  return {
    ...self,
    gamerTags: game === undefined ? [] : [{ ...tag, createdAt: at, updatedAt: at }],
    teamIds: teamNumbers.map((number) => recordId('teams', number)),
    role,
    kind: staff.has(role) ? 'staff' : 'player',
  };
}

function convert(index: number, teamNumbers: readonly number[], now: Date): JsonObject {
  const { nick: _, ...self } = applicant(index);
  return {
    ...self,
    gamerTags: applicantTags(index, gameAt(index), now),
    teamIds: teamNumbers.map((number) => recordId('teams', number)),
    role: 'Trial',
    kind: 'player',
  };
}

function filed(index: number): JsonObject {
  const document = demoDocuments[index];
  const key = demoFileKey(index);
  return {
    name: document?.name,
    contentType: document?.contentType,
    sizeBytes: document?.sizeBytes,
    tags: document?.tags,
    fileKey: key,
    fileUrl: documentRefOf(key),
  };
}

/** A record created so many days ago; `legacyRef` is a field that no contract names. */
function record(
  resource: ResourceName,
  index: number,
  daysAgo: number,
  fields: JsonObject,
  now: Date,
) {
  const created = new Date(now.getTime() - daysAgo * dayMs);
  const updated = new Date(now.getTime() - (daysAgo * dayMs) / (1 + (index % 3)));
  return {
    id: recordId(resource, index + 1),
    organizationId: demoOrganization,
    ...fields,
    legacyRef: `${resource.slice(0, 1).toUpperCase()}-${100 + index}`,
    createdAt: created.toISOString(),
    updatedAt: updated.toISOString(),
  };
}
