/** The rules of `rosterctl check`, by their code. */

import { TryoutStatus } from '../../api/schemas.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import { timeOf } from '../../data/dates.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { plainText } from '../../data/path.js';
import { foldCase, lowerFirst, plural } from '../../data/text.js';
import {
  durationInWords,
  formatDuration,
  longTime,
  relativeTime,
  waitingTime,
} from '../../data/time.js';
import { isEmptyValue } from '../../data/where.js';
import { isConverted, playerIdOf } from '../converted.js';
import { tagsIn } from '../document-tags.js';
import { hasTeam, hasTeamField, teamsOf } from '../player-filters.js';
import { waitingStatus } from '../tryout-filters.js';
import {
  type CheckedRecord,
  eachRecord,
  type Rule,
  type RuleCode,
  type SharedValue,
  sharedValues,
  whoIs,
} from './rule.js';

const statusList = TryoutStatus.options.join(',');

/** Every rule, in the order in which findings are printed. */
export const findingRules: Readonly<Record<RuleCode, Rule>> = {
  waiting: {
    resource: 'tryouts',
    title: (count, { patience }) =>
      `${plural(count, 'application')} ${has(count)} waited for more than ${durationInWords(patience)}`,
    listAll: ({ patience }) =>
      `rosterctl tryouts list --status ${waitingStatus} --older-than ${formatDuration(patience)}`,
    ...eachRecord((_, subject, { now, patience }) => {
      const { status, at } = subject;
      if (status !== waitingStatus || at === undefined) return undefined;
      const age = now.getTime() - at;
      return age < patience ? undefined : `${whoIs(subject)} has waited for ${waitingTime(age)}`;
    }),
  },
  'accepted.unconverted': {
    resource: 'tryouts',
    title: (count) =>
      `${plural(count, 'accepted application')} ${count === 1 ? 'is not a player' : 'are not players'} yet`,
    listAll: () => 'rosterctl tryouts list --status accepted --unconverted',
    fix: 'rosterctl tryouts convert',
    fixAll: 'rosterctl tryouts convert --status accepted --unconverted',
    ...eachRecord((record, subject) =>
      subject.status === 'accepted' && !isConverted(record)
        ? `${whoIs(subject)} is accepted but not a player yet`
        : undefined,
    ),
  },
  'duplicate.email': {
    resource: 'tryouts',
    title: (count) => mayBeRefused(plural(count, 'e-mail address', 'e-mail addresses'), count),
    ...sharedValues(({ email }) => textValue(email)),
  },
  'duplicate.discord': {
    resource: 'tryouts',
    title: (count) => mayBeRefused(plural(count, 'Discord user'), count),
    ...sharedValues(discordValue),
  },
  'time.future': {
    resource: 'tryouts',
    title: (count) => `${plural(count, 'application')} ${has(count)} a time in the future`,
    ...eachRecord(futureTimes),
  },
  'status.unknown': {
    resource: 'tryouts',
    title: (count) => `${plural(count, 'application')} ${has(count)} an unknown status`,
    listAll: () => `rosterctl tryouts list --not-status ${statusList}`,
    ...eachRecord(({ status }, subject) =>
      TryoutStatus.safeParse(status).success
        ? undefined
        : `${whoIs(subject)} has the status ${isEmptyValue(status) ? '(none)' : `"${plainText(status)}"`}`,
    ),
  },
  'duplicate.name': {
    resource: 'tryouts',
    title: (count) =>
      `${plural(count, 'name')} ${isOn(count)} several applications for the same form`,
    ...sharedValues(({ name }) => textValue(name)),
  },
  'duplicate.tag': {
    resource: 'tryouts',
    title: (count) =>
      `${plural(count, 'gamer tag')} ${isOn(count)} several applications for the same form`,
    ...sharedValues(tagValues),
  },
  'converted.notAccepted': {
    resource: 'tryouts',
    title: (count) =>
      `${plural(count, 'application')} became ${count === 1 ? 'a player' : 'players'} without being accepted`,
    listAll: () => 'rosterctl tryouts list --converted --not-status accepted',
    ...eachRecord((record, subject) =>
      isConverted(record) && subject.status !== 'accepted'
        ? `${whoIs(subject)} is ${subject.status ?? 'without a status'} and a player${playerOf(record)}`
        : undefined,
    ),
  },
  'player.noTeam': {
    resource: 'players',
    title: (count) => `${plural(count, 'player')} ${count === 1 ? 'is' : 'are'} in no team`,
    ...eachRecord(
      (player, subject) => (hasTeam(player) ? undefined : `${whoIs(subject)} is in no team`),
      { field: 'teamIds', isShown: hasTeamField },
    ),
  },
  'team.empty': {
    resource: 'teams',
    alsoReads: ['players'],
    title: (count) => `${plural(count, 'team')} ${has(count)} no players`,
    watch: watchEmptyTeams,
  },
  'document.untagged': {
    resource: 'documents',
    title: (count) => `${plural(count, 'document')} ${has(count)} no tags`,
    ...eachRecord(
      ({ tags }, subject) =>
        isEmptyValue(tagsIn(tags) ?? tags) ? `${whoIs(subject)} has no tags` : undefined,
      { field: 'tags', isShown: (document) => Object.hasOwn(document, 'tags') },
    ),
  },
};

function has(count: number): string {
  return count === 1 ? 'has' : 'have';
}

function isOn(count: number): string {
  return count === 1 ? 'is on' : 'are on';
}

/** Contract 4.1 rule 3: an update is refused while another application to the form has the same. */
function mayBeRefused(what: string, count: number): string {
  return `${what} ${isOn(count)} several applications for the same form, so changes may be refused (409)`;
}

function textValue(value: unknown): readonly SharedValue[] {
  const shown = isEmptyValue(value) ? '' : plainText(value).trim();
  return shown === '' ? [] : [{ key: foldCase(shown), shown }];
}

/** A user is known by the id, or by the name where no id is given. */
function discordValue({ discordUserId, discordUsername }: JsonObject): readonly SharedValue[] {
  const [id] = textValue(discordUserId);
  const [name] = textValue(discordUsername);
  if (!id) return name ? [{ key: `name ${name.key}`, shown: name.shown }] : [];
  return [{ key: `id ${id.key}`, shown: name ? `${name.shown} (${id.shown})` : id.shown }];
}

function tagValues({ gamerTags }: JsonObject): readonly SharedValue[] {
  if (!Array.isArray(gamerTags)) return [];
  return gamerTags.filter(isObject).flatMap(({ game, gamerTag }) =>
    textValue(gamerTag).map(({ key, shown }) => ({
      key: `${foldCase(plainText(game))}\0${key}`,
      shown: `${plainText(game)} ${shown}`.trim(),
    })),
  );
}

/** Clocks differ; a time zone that was left out does so by an hour or more. */
const clockSkewMs = 3_600_000;

const timeFields = ['submittedAt', 'createdAt', 'updatedAt'];

function futureTimes(record: JsonObject, subject: CheckedRecord, { now }: { readonly now: Date }) {
  const latest = now.getTime() + clockSkewMs;
  const ahead = timeFields.flatMap((field) => {
    const ms = field === 'submittedAt' ? subject.at : timeOf(record[field]);
    if (ms === undefined || ms <= latest) return [];
    const at = new Date(ms);
    return [`${lowerFirst(fieldLabel(field))} ${longTime(at)} (${relativeTime(at, now)})`];
  });
  return ahead.length === 0 ? undefined : `${whoIs(subject)}: ${ahead.join(', ')}`;
}

function playerOf(record: JsonObject): string {
  const id = playerIdOf(record);
  return id === undefined ? '' : ` (${id})`;
}

/** Players name their teams by id or by name. */
function watchEmptyTeams(): ReturnType<Rule['watch']> {
  const named = new Set<string>();
  const teams: CheckedRecord[] = [];
  let players = 0;
  let isShown = false;
  return {
    observe(record, subject, isOwn) {
      if (isOwn) {
        teams.push(subject);
        return;
      }
      players += 1;
      isShown ||= hasTeamField(record);
      for (const { id, name } of teamsOf(record))
        named.add(id === undefined ? `name ${normal(name)}` : `id ${normal(id)}`);
    },
    missingField: () => (isShown || players === 0 ? undefined : 'teamIds'),
    found: () =>
      teams
        .filter(({ id, name }) => {
          // A text alone may be an id or a name.
          const ways = [`id ${normal(id)}`, `name ${normal(id)}`, `name ${normal(name)}`];
          return !ways.some((way) => named.has(way));
        })
        .map((team) => ({ subjects: [team], detail: `${whoIs(team)} has no players` })),
  };
}

function normal(text = ''): string {
  return text.normalize('NFC');
}
