/** A rule of `rosterctl check`: its stable code, what it reads, and what it finds. */
import type { JsonObject } from '../../data/json.js';
import type { ResourceName } from '../../data/resources.js';
import { formReader } from '../person/holders.js';
import { undecided } from '../tryout-filters.js';

/** The rules that run unless `--only` names others, and what each finds. */
const onByDefault = {
  waiting: 'pending for longer than --older-than',
  'accepted.unconverted': 'accepted but not a player yet',
  'duplicate.email': 'an e-mail address on several applications for the same form',
  'duplicate.discord': 'a Discord user on several applications for the same form',
  'time.future': 'a time more than an hour ahead',
  'status.unknown': 'a status that the service does not document',
} as const;

/** The rules that run only when `--only` names them. */
const onRequest = {
  'duplicate.name': 'a name on several applications for the same form',
  'duplicate.tag': 'a gamer tag on several applications for the same form',
  'converted.notAccepted': 'a player whose application is not accepted',
  'player.noTeam': 'a player in no team',
  'team.empty': 'a team without players',
  'document.untagged': 'a document without tags',
} as const;

export type DefaultCode = keyof typeof onByDefault;
export type RuleCode = DefaultCode | keyof typeof onRequest;

export const defaultCodes = Object.keys(onByDefault) as readonly DefaultCode[];

/** All codes, in the order in which findings are printed. */
export const ruleCodes = Object.keys({ ...onByDefault, ...onRequest }) as readonly RuleCode[];

/** A sentence on each rule, for help. */
export const ruleHelp = `These rules run by default: ${explained(onByDefault)}. These run when --only names them: ${explained(onRequest)}.`;

function explained(found: Readonly<Record<string, string>>): string {
  return Object.entries(found)
    .map(([code, what]) => `${code} (${what})`)
    .join(', ');
}

/** How long an application may wait by default: two weeks. */
export const defaultPatience = '14d';

/** A record as findings name it. */
export interface CheckedRecord {
  readonly id: string;
  readonly name: string;
  readonly status: string | undefined;
  /** When it was submitted, in milliseconds since 1970; undefined if its record does not say. */
  readonly at: number | undefined;
}

/** Something that a rule found: the records concerned, and a sentence that names them. */
interface RuleFinding {
  /** Oldest first. */
  readonly subjects: readonly CheckedRecord[];
  readonly detail: string;
  /** The value that the records share; the same records may share another one, too. */
  readonly key?: string;
}

/** The inputs of the rules besides the records. */
export interface RuleWorld {
  readonly now: Date;
  /** How long an application may wait, in milliseconds. */
  readonly patience: number;
}

/** A rule at work: it sees every record of the lists it reads, once. */
export interface Watch {
  /** `isOwn`: the record is of the resource that the rule names, not of one that it also reads. */
  observe(record: JsonObject, subject: CheckedRecord, isOwn: boolean): void;
  /** Returns an undocumented field that it needs and that no record has. */
  missingField?(): string | undefined;
  found(): readonly RuleFinding[];
}

/** One rule. */
export interface Rule {
  /** The resource of the records that it names. */
  readonly resource: ResourceName;
  /** The lists that it needs besides. */
  readonly alsoReads?: readonly ResourceName[];
  /** Returns what was found in words: `2 players are in no team`. */
  title(count: number, world: RuleWorld): string;
  /** Returns the command that lists everything it found, if there is one. */
  listAll?(world: RuleWorld): string;
  /** The command that settles a finding, before its ids; only where there is one answer. */
  readonly fix?: string;
  /** The command that settles everything it found. */
  readonly fixAll?: string;
  watch(world: RuleWorld): Watch;
}

/** Creates a rule that checks each record by itself: `problem` describes what is wrong with it. */
export function eachRecord(
  problem: (record: JsonObject, subject: CheckedRecord, world: RuleWorld) => string | undefined,
  needs?: { readonly field: string; isShown(record: JsonObject): boolean },
): Pick<Rule, 'watch'> {
  return {
    watch(world) {
      const found: RuleFinding[] = [];
      let count = 0;
      let isShown = needs === undefined;
      return {
        observe(record, subject) {
          count += 1;
          isShown ||= needs?.isShown(record) ?? true;
          const detail = problem(record, subject, world);
          if (detail !== undefined) found.push({ subjects: [subject], detail });
        },
        missingField: () => (isShown || count === 0 ? undefined : needs?.field),
        found: () => found,
      };
    },
  };
}

/** A value that applications may share, as it is compared and as it is shown. */
export interface SharedValue {
  readonly key: string;
  readonly shown: string;
}

/**
 * Creates a rule that finds the values which several applications for the same form share. An application
 * that shows no form counts only while it is undecided: the others may be those of another form.
 */
export function sharedValues(
  valuesOf: (record: JsonObject) => readonly SharedValue[],
): Pick<Rule, 'watch'> {
  return {
    watch() {
      const groups = new Map<string, { shown: string; form: string; subjects: CheckedRecord[] }>();
      const formOf = formReader();
      return {
        observe(record, subject) {
          const form = formOf(record);
          if (form === undefined && !undecided.includes(subject.status ?? '')) return;
          for (const { key, shown } of valuesOf(record)) {
            const place = `${form ?? ''}\0${key}`;
            const group = groups.get(place);
            if (!group) groups.set(place, { shown, form: form ?? '', subjects: [subject] });
            else if (!group.subjects.includes(subject)) group.subjects.push(subject);
          }
        },
        found: () =>
          [...groups]
            .filter(([, { subjects }]) => subjects.length > 1)
            .map(([key, { shown, form, subjects }]) => {
              const inOrder = subjects.toSorted(oldestFirst);
              const where = form === '' ? shown : `${shown}, ${form}`;
              return {
                subjects: inOrder,
                key,
                detail: `${where}: ${inOrder.map(describeSubject).join(', ')}`,
              };
            }),
      };
    },
  };
}

/** Orders records by the time of their submission, those without one last; ties by id. */
export function oldestFirst(a: CheckedRecord, b: CheckedRecord): number {
  const order = (a.at ?? Infinity) - (b.at ?? Infinity);
  return order || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** Returns the name of a record, or its id if it has none. */
export function whoIs({ name, id }: CheckedRecord): string {
  return name === '' ? id : name;
}

/** Returns `Nilo Tsukiyo (app_0002, rejected)`. */
function describeSubject({ id, name, status }: CheckedRecord): string {
  const inside = status === undefined ? id : `${id}, ${status}`;
  return name === '' ? inside : `${name} (${inside})`;
}
