/** Tags of documents: how records hold them, which the contract does not show (2.6), and how they are changed. */
import {
  isNumber,
  isObject,
  isTextOrNumber,
  type JsonObject,
  parseJson,
  printJson,
} from '../data/json.js';
import { plainText } from '../data/path.js';
import { isSameValue } from '../data/sorting.js';
import { isSameText } from '../data/text.js';
import { UsageError } from '../errors.js';

/**
 * Returns the tags that a field holds, a list of texts, numbers or objects, or a text with commas or JSON; of an
 * object all texts by which it may be named. Undefined for anything else.
 */
export function tagsIn(value: unknown): readonly string[] | undefined {
  return tagsBy(value, textsOf);
}

/** Same as `tagsIn`, but of an object only its name: the tags for another document. */
export function tagNamesIn(value: unknown): readonly string[] | undefined {
  return tagsBy(value, (tag) => textsOf(tag).slice(0, 1));
}

function tagsBy(value: unknown, textsIn: (tag: unknown) => readonly string[]) {
  if (value === null || value === undefined) return [];
  const list = typeof value === 'string' ? listInText(value) : value;
  if (!Array.isArray(list)) return undefined;
  const texts = list.map(textsIn);
  return texts.length > 0 && texts.every((each) => each.length === 0) ? undefined : texts.flat();
}

/** A change of a document's tags: all of them, or some added and some removed. */
export interface TagChange {
  readonly tag?: readonly string[] | undefined;
  readonly addTag?: readonly string[] | undefined;
  readonly removeTag?: readonly string[] | undefined;
}

/**
 * Returns the changed tags in the shape that the record has: texts, numbers, objects with one key, or
 * a text with commas or JSON. Absent tags stay absent if none is added: the service may hide them. Throws
 * UsageError for a shape that cannot be kept.
 */
export function changedTags(present: unknown, change: TagChange): unknown {
  if (present === null || present === undefined) {
    const tags = changedList([], change);
    return tags.length > 0 ? tags : present;
  }
  if (Array.isArray(present)) return changedList(present, change);
  if (typeof present !== 'string' || !listInText(present))
    throw unwritable('are neither a list nor text');
  const list = jsonList(present);
  if (!list) return changedText(present, change);
  const after = changedList(list, change);
  return isSameValue(list, after) ? present : printJson(after);
}

/** Returns the tags in a text; undefined if it is a JSON object or a literal of PostgreSQL. */
function listInText(text: string): readonly unknown[] | undefined {
  return jsonList(text) ?? (/^\s*\{.*\}\s*$/s.test(text) ? undefined : splitTags(text));
}

function jsonList(text: string): readonly unknown[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    const value = parseJson(text);
    return Array.isArray(value) ? (value as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

function changedList(present: readonly unknown[], change: TagChange): readonly unknown[] {
  const { tag, addTag = [], removeTag = [] } = change;
  const create = elementLike(present);
  if (tag) return [...new Set(tag)].map((text) => findTag(present, text) ?? create(text));
  const kept = present.filter((each) => !removeTag.some((text) => isTag(each, text)));
  const added = [...new Set(addTag)].filter((text) => findTag(kept, text) === undefined);
  return [...kept, ...added.map(create)];
}

function changedText(present: string, change: TagChange): string {
  const separator = present.includes(', ') ? ', ' : (/[,;]/.exec(present)?.[0] ?? ', ');
  const before = splitTags(present);
  const after = changedList(before, change) as readonly string[];
  if (isSameValue(before, after)) return present;
  const unfit = after.find((tag) => /[,;]/.test(tag));
  if (unfit !== undefined)
    throw unwritable(`are one text with commas, which cannot hold "${unfit}"`);
  return after.join(separator);
}

function splitTags(text: string): readonly string[] {
  const parts = text.split(/[,;]/).map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

/** Names under which an object may have the text of a tag. */
const labels = ['name', 'label', 'title', 'tag', 'value', 'text', 'slug', 'key', 'id'];

function textsOf(tag: unknown): readonly string[] {
  if (isTextOrNumber(tag)) return [plainText(tag)];
  if (!isObject(tag)) return [];
  return labels.filter((label) => isTextOrNumber(tag[label])).map((label) => plainText(tag[label]));
}

function findTag(tags: readonly unknown[], text: string): unknown {
  return tags.find((each) => isTag(each, text));
}

function isTag(tag: unknown, text: string): boolean {
  return textsOf(tag).some((each) => isSameText(each, text));
}

/** Returns a function that makes a tag in the shape of the present ones, or throws UsageError. */
function elementLike(present: readonly unknown[]): (text: string) => unknown {
  const [first] = present;
  if (present.every((each) => typeof each === 'string')) return (text) => text;
  if (present.every(isNumber)) return tagNumber;
  const keys = new Set(present.flatMap((each) => (isObject(each) ? Object.keys(each) : [''])));
  const [key = ''] = keys;
  if (!isObject(first) || keys.size > 1 || !labels.includes(key))
    return (text) => {
      throw unwritable(
        keys.has('')
          ? `are of several types, so that "${text}" cannot be added`
          : `are objects with ${[...keys].slice(0, 6).join(', ')}, which "${text}" alone does not fill`,
      );
    };
  const create = elementLike((present as readonly JsonObject[]).map((each) => each[key]));
  return (text) => ({ [key]: create(text) });
}

function tagNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && String(number) === text) return number;
  throw unwritable(`are numbers, and "${text}" is not one`);
}

function unwritable(what: string): UsageError {
  return new UsageError(`The tags of this document ${what}; nothing was sent.`, {
    hint: "Write the whole field as the service has it: -F 'tags=JSON'",
  });
}
