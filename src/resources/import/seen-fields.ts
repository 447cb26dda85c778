/** The fields that the records of a list show: their names as columns, the type of what they hold, and whether that is teams. */
import { serviceFields } from '../../api/records.js';
import { exportText } from '../../data/csv.js';
import { isObject, isTextOrNumber, type JsonObject, RawNumber } from '../../data/json.js';
import { childOf, flatten, isNested, locate, plainText } from '../../data/path.js';

/** A field that some record shows. */
export interface SeenField {
  /** The keys that lead to it. */
  readonly path: readonly string[];
  /** For each key, true if it is an index of a list. */
  readonly inList: readonly boolean[];
  /** A value whose type new values get; undefined if no record has one, or if the types differ. */
  readonly sample: unknown;
}

/** Beyond this number of records, only fields of the top level are looked for. */
const mostSearched = 1_000;

/** Collects the fields of records; `isTeam`: true for the id of a team, if some field may hold such ids. */
export class SeenFields {
  private readonly fields = new Map<string, SeenField>();
  private readonly mixed = new Set<string>();
  /** The fields of the top level that hold an object, or a list of objects, in some record. */
  private readonly nested = new Map<string, SeenField>();
  private count = 0;
  /** The fields in which some record holds ids of teams. */
  private readonly withTeams = new Set<string>();
  /** Those in which some record holds another value, such as a number that is an id by chance. */
  private readonly withOthers = new Set<string>();

  constructor(private readonly isTeam?: (id: string) => boolean) {}

  /** True if there was no record. */
  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** The names as an export writes them, in the order of their first record. */
  get names(): readonly string[] {
    return [...this.fields.keys()];
  }

  /** The fields that hold ids of teams and nothing else; if there are none, those that hold some. */
  get teamFields(): readonly string[] {
    const all = [...this.withTeams];
    const pure = all.filter((field) => !this.withOthers.has(field));
    return pure.length > 0 ? pure : all;
  }

  get(name: string): SeenField | undefined {
    return this.fields.get(name);
  }

  /** The field that one cell fills; its sample is an object where the records hold nothing but objects. */
  asWhole(name: string): SeenField | undefined {
    const known = this.fields.get(name);
    const isTold = known?.sample !== undefined || this.mixed.has(name);
    return isTold ? known : (this.nested.get(name) ?? known);
  }

  /** True if a record has the field, or fields in it. */
  has(name: string): boolean {
    const within = `${name}.`;
    return this.fields.has(name) || this.names.some((field) => field.startsWith(within));
  }

  observe(record: JsonObject): void {
    this.count += 1;
    if (this.isTeam) this.seekTeams(record, this.isTeam);
    const isSearched = this.count <= mostSearched && Object.values(record).some(isNested);
    if (isSearched) this.search(record);
    for (const key of Object.keys(record)) {
      const value = record[key];
      if (isNested(value)) {
        // An empty one may stand for null.
        if (Object.keys(value as object).length > 0)
          this.nested.set(exportText(key), { path: [key], inList: [false], sample: value });
      } else if (!isSearched) this.note(key, record, [key], value);
    }
  }

  private seekTeams(record: JsonObject, isTeam: (id: string) => boolean): void {
    for (const [field, value] of Object.entries(record)) {
      const values = [value].flat().filter((each) => each !== null && each !== '');
      if (values.length === 0 || serviceFields.includes(field)) continue;
      const isHolder = values.every((each) => isTextOrNumber(each) && isTeam(plainText(each)));
      (isHolder ? this.withTeams : this.withOthers).add(field);
    }
  }

  private search(record: JsonObject): void {
    for (const name of flatten(record).keys()) {
      const found = locate(record, name);
      if (found) this.note(name, record, found.path, found.value);
    }
  }

  private note(key: string, record: JsonObject, path: readonly string[], value: unknown): void {
    const name = exportText(key);
    const known = this.fields.get(name);
    const isWanted = !known || (isBetterSample(value, known.sample) && !this.mixed.has(name));
    if (isWanted) {
      const sample = value ?? undefined;
      this.fields.set(name, { path, inList: known?.inList ?? listsOn(record, path), sample });
    } else if (isOfOtherType(value, known.sample)) {
      this.mixed.add(name);
      this.fields.set(name, { ...known, sample: undefined });
    }
  }
}

/** True for the first value, and for the first list that shows the type of its elements. */
function isBetterSample(value: unknown, sample: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (sample === undefined) return true;
  const isList = Array.isArray(value) && Array.isArray(sample);
  return isList && sample.length === 0 && value.length > 0;
}

function isOfOtherType(value: unknown, sample: unknown): boolean {
  if (value === null || value === undefined || sample === undefined) return false;
  return typeOf(value) !== typeOf(sample);
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return value instanceof RawNumber ? 'number' : typeof value;
}

function listsOn(record: JsonObject, path: readonly string[]): readonly boolean[] {
  let container: unknown = record;
  return path.map((key) => {
    const isList = Array.isArray(container);
    container = isObject(container) || isList ? childOf(container, key) : undefined;
    return isList;
  });
}
