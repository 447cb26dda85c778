/** The cards of players, teams and documents, whose fields the contract does not show. */

import { extensionsOf } from '../../api/schemas.js';
import type { JsonObject } from '../../data/json.js';
import { quotedId, withTeamNames } from '../../data/references.js';
import { inUsualOrder } from '../../data/sorting.js';
import { groupedNumber } from '../../data/text.js';
import { alignedLines, type Piece } from '../../terminal/layout.js';
import { singleLine } from '../../terminal/safe-text.js';
import { wrapPageLine } from '../../terminal/whole-words.js';
import { hasTeam, hasTeamField, isInTeam } from '../player-filters.js';
import { namesById } from '../team-names.js';
import { type CardMaker, type CardParts, cardOf } from './card.js';
import {
  ageOf,
  type CardStyle,
  contactOf,
  fieldText,
  furtherFields,
  gamesSection,
  type Section,
  sizeOf,
} from './fields.js';
import { recordsNearby } from './nearby.js';

/** Makes the card of a player, whose teams have names where these can be read. Throws CancelledError after a signal. */
export const playerCard: CardMaker = async (context, record, changes) => {
  const isOwn = (team: JsonObject) => isInTeam(record, { id: String(team['id']) });
  const nearby = hasTeam(record) ? await recordsNearby(context, 'teams', isOwn) : undefined;
  const shown =
    nearby && 'records' in nearby ? withTeamNames(record, namesById(nearby.records)) : record;
  return cardOf(context, record, changes, (style) => rosterParts(shown, style));
};

/** Makes the card of a document. */
export const documentCard: CardMaker = async (context, record, changes) =>
  cardOf(context, record, changes, (style) => {
    const type = fieldText(record, 'contentType');
    return {
      state: [
        { text: extensionsOf(type)[0] ?? type },
        { text: sizeOf(record) },
        { text: ageOf(record, 'createdAt', style) },
      ],
      contact: [contactOf(record, style)],
      sections: furtherFields(record, style, { texts: ['contentType', 'sizeBytes', 'size'] }),
    };
  });

/** Makes the card of a team, with its players where a field of theirs names it. Throws CancelledError after a signal. */
export const teamCard: CardMaker = async (context, record, changes) => {
  let areTeamsNamed = false;
  const team = { id: String(record['id']), name: fieldText(record, 'name') };
  const nearby = await recordsNearby(context, 'players', (player) => {
    areTeamsNamed ||= hasTeamField(player);
    return isInTeam(player, team);
  });
  return cardOf(context, record, changes, (style) => {
    const parts = rosterParts(record, style);
    if ('reason' in nearby)
      return { ...parts, remarks: [`Players were not listed: ${nearby.reason}.`] };
    if (!areTeamsNamed) return parts;
    const listAll = `rosterctl players list --team ${quotedId(team.id)}`;
    const section = playersSection(nearby.records, context.withConnection(listAll), style);
    return { ...parts, sections: [...parts.sections, section] };
  });
};

function rosterParts(record: JsonObject, style: CardStyle): CardParts {
  const created = ageOf(record, 'createdAt', style);
  return {
    state: [
      { text: fieldText(record, 'status'), paint: style.paint.status },
      { text: created === '' ? '' : `created ${created}` },
    ],
    contact: [contactOf(record, style)],
    sections: [...gamesSection(record, style), ...furtherFields(record, style)],
  };
}

const maxPlayers = 30;

function playersSection(
  players: readonly JsonObject[],
  listAll: string,
  { paint }: CardStyle,
): Section {
  const sorted = inUsualOrder(players, 'players');
  const shown = sorted
    .slice(0, maxPlayers)
    .map((player): Piece[] => [
      { text: fieldText(player, 'name') },
      { text: fieldText(player, 'id'), paint: paint.dim },
      { text: fieldText(player, 'role') },
    ]);
  if (shown.length === 0) shown.push([{ text: 'none', paint: paint.dim }]);
  const more = sorted.length - maxPlayers;
  const rest = more > 0 ? singleLine(`and ${groupedNumber(more)} more: ${listAll}`) : '';
  return {
    label: 'Players',
    lines: (room) => [
      ...alignedLines(shown, room),
      ...(rest === '' ? [] : wrapPageLine(rest, room)),
    ],
  };
}
