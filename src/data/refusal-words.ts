/** The words of a refusal: what the body of an error says, as `field: text` lines. */
import { isObject, type JsonObject, parseJson, RawNumber } from './json.js';
import { wordList } from './text.js';

/** Returns the code of a refusal in brackets, to append to a message; empty if it only repeats the status. */
export function bracketedCode(code: string | undefined, status: number): string {
  return code && code !== `${status}` ? ` (${code})` : '';
}

/** Begins the service's words in every message. */
export const serviceSays = 'The service says:';

/**
 * Yields what the body of a refusal says, each line once: its messages, then its lists and maps of
 * errors, also one level inside `error`, `data`, `result` and `response`. A body of no known form
 * yields its remaining fields, and a plain text its lines. The code is not a message. Untrusted: redact
 * and sanitize the lines.
 */
export function* wordsIn(body: unknown, code: string | undefined): Generator<string> {
  const said = new Set<string>(code === undefined ? [] : [code.trim()]);
  const codeOnly = said.size;
  yield* once(said, typeof body === 'string' ? textWords(body) : bodyWords(body, 1));
  if (said.size === codeOnly && isObject(body)) yield* once(said, remainingWords(body));
}

/** One thing that the service says, and the field that it concerns; '' for none. */
interface Word {
  readonly field: string;
  readonly text: string;
}

/** Names are compared without case, `_` and `-`. */
const messageNames = wordList(`
  message detail title msg errordescription errormessage description reason messages
`);
const listNames = wordList(`
  errors details issues fields violations validation fieldviolations validationerrors
  fielderrors formerrors modelstate invalidparams
`);
const wrapperNames = ['error', 'data', 'result', 'response'];
/** Messages of an object in a map, where other names may be those of fields. */
const ownTexts = ['message', 'msg', 'detail', 'errordescription', 'errormessage', 'defaultmessage'];
/** Messages of an object in a list. */
const itemTexts = [...ownTexts, ...wordList('description reason issue text title error code type')];
/** Names of a field beside the message of a body; others may be facts of the response there. */
const bodyFieldKeys = wordList('field param parameter property fieldname attribute target');
const fieldKeys = wordList(`
  field path loc instancepath datapath pointer param parameter property propertyname
  propertypath fieldname attribute target source key name
`);
/** Keys of a map that group errors and name no field. */
const groupNames = new Set([
  ...listNames,
  ...wordList('message messages constraints children nonfielderrors base schema'),
]);
/** Names of fields in which the service only repeats the request. */
const echoNames = new Set(['value', 'target', 'input', 'received', 'rejectedvalue']);
/** Facts of the response itself that say nothing about a refusal. */
const envelopeNames = new Set([
  ...wordList(
    'error errors status statuscode ok success timestamp time date path method instance type',
  ),
  ...messageNames,
]);

/** Deeper errors are in the body, which `--json` prints. */
const deepest = 6;

function* once(said: Set<string>, words: Iterable<Word>): Generator<string> {
  for (const { field, text } of words) {
    const line = field === '' ? text : `${field}: ${text}`;
    const name = field.split('.').at(-1) ?? '';
    const isRepeated = said.has(text) && text.toLowerCase().includes(name.toLowerCase());
    if (said.has(line) || isRepeated) continue;
    said.add(line);
    yield line;
  }
}

function* textWords(text: string): Generator<Word> {
  for (const line of text.split(/[\r\n]+/)) yield* word('', line);
}

function* word(field: string, value: unknown): Generator<Word> {
  const isScalar =
    typeof value === 'number' || typeof value === 'boolean' || value instanceof RawNumber;
  // A number or a switch says something only beside the name of its field.
  const text = typeof value === 'string' ? value.trim() : isScalar && field ? String(value) : '';
  if (text !== '') yield { field, text };
}

function* bodyWords(body: unknown, levels: number): Generator<Word> {
  if (!isObject(body)) {
    yield* errorWords(body, '', deepest);
    return;
  }
  const values = byName(body);
  const field = pathText(textIn(values, bodyFieldKeys));
  for (const name of messageNames) yield* errorWords(values.get(name), field, deepest);
  for (const name of listNames) {
    const value = values.get(name);
    const isNames = name === 'fields' && Array.isArray(value);
    yield* errorWords(value, isNames ? name : '', deepest, name.startsWith('field'));
  }
  for (const name of levels > 0 ? wrapperNames : []) {
    const value = values.get(name);
    // A record's own description is not what the service says about the refusal.
    if (isObject(value) && (name === 'error' || !isRecord(value)))
      yield* bodyWords(value, levels - 1);
    else if (
      Array.isArray(value) &&
      (name === 'error' || !value.some((each) => isObject(each) && isRecord(each)))
    )
      yield* errorWords(value, '', deepest);
  }
}

/** The words of a value that holds errors: a text, a list, an object or a map by field. */
function* errorWords(read: unknown, field: string, depth: number, isMap = false): Generator<Word> {
  if (depth === 0) return;
  const value = structureIn(read);
  if (Array.isArray(value)) {
    for (const item of value as unknown[])
      if (isObject(item)) yield* itemWords(item, field, depth - 1, itemTexts);
      else yield* errorWords(item, field, depth - 1);
  } else if (!isObject(value)) yield* word(field, value);
  else if (!isMap && textIn(byName(value), ownTexts) !== undefined)
    yield* itemWords(value, field, depth - 1, ownTexts);
  // A record that the service sends beside the refusal.
  else if (field !== '' && isRecord(value)) return;
  else yield* mapWords(value, field, depth - 1);
}

/** The words of one error: its text beside its field, and the errors inside it. */
function* itemWords(
  item: JsonObject,
  outer: string,
  depth: number,
  texts: readonly string[],
): Generator<Word> {
  const values = byName(item);
  const own = fieldIn(values, outer);
  const field = joined(outer, own);
  const text = textIn(values, texts);
  if (text === undefined) {
    const rest = Object.entries(item).filter(([name]) => !fieldKeys.includes(plain(name)));
    yield* mapWords(own === '' ? item : Object.fromEntries(rest), field, depth);
    return;
  }
  yield* word(field, text);
  for (const name of [...listNames, 'children']) {
    const inner = values.get(name);
    if (typeof inner === 'object') yield* errorWords(inner, field, depth);
  }
}

function* mapWords(map: JsonObject, field: string, depth: number): Generator<Word> {
  for (const [name, value] of Object.entries(map)) {
    if (/^[@$]/.test(name) || echoNames.has(plain(name))) continue;
    const isGroup = typeof value === 'object' && groupNames.has(plain(name));
    // By rule: `{ isEmail: 'must be an address' }`.
    const isRules = name === 'constraints' && isObject(value);
    yield* errorWords(
      isRules ? Object.values(value) : value,
      isGroup ? field : joined(field, name),
      depth,
    );
  }
}

/** The fields of a body without any known message, except those that describe the response. */
function* remainingWords(body: JsonObject): Generator<Word> {
  if (isRecord(body)) return;
  for (const [name, value] of Object.entries(body)) {
    const isWrapper = isObject(value) && wrapperNames.includes(plain(name));
    const isKnown = typeof value !== 'object' && envelopeNames.has(plain(name));
    const isNumericCode = name === 'code' && typeof value === 'number';
    if (isKnown || isNumericCode || (isObject(value) && isRecord(value))) continue;
    const isGroup = isWrapper || groupNames.has(plain(name));
    yield* errorWords(value, isGroup ? '' : name, 3, isWrapper);
  }
}

/** A text that is JSON itself, such as the message of a ZodError, as the list or object that it holds. */
function structureIn(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

function isRecord(value: JsonObject): boolean {
  return Object.hasOwn(value, 'id');
}

/** Not a normal name: `@type` is another name than `type`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** The values of an object by plain name; of two alike the first. */
function byName(value: JsonObject): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(value)
      .toReversed()
      .map(([name, each]) => [plain(name), each]),
  );
}

function textIn(values: ReadonlyMap<string, unknown>, names: readonly string[]) {
  for (const name of names) {
    const value = values.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return undefined;
}

/** The field that an error names; inside one that is known, a name alone may be that of the error. */
function fieldIn(values: ReadonlyMap<string, unknown>, outer: string): string {
  for (const name of fieldKeys) {
    if (name === 'name' && outer !== '') continue;
    const field = pathText(values.get(name));
    if (field !== '') return field;
  }
  return '';
}

/** `email`, `players.0.name`: from a name, a JSON pointer, a path in parts, or the `source` of JSON:API. */
function pathText(value: unknown): string {
  if (typeof value === 'string') return value.trim().replace(/^\//, '').replaceAll('/', '.');
  if (Array.isArray(value)) {
    const parts = (value as unknown[]).filter((part) => ['string', 'number'].includes(typeof part));
    // The body is what was sent in any case.
    return (parts.length > 1 && parts[0] === 'body' ? parts.slice(1) : parts).join('.');
  }
  if (!isObject(value)) return '';
  return pathText(value['pointer'] ?? value['parameter']);
}

function joined(outer: string, own: string): string {
  if (own === '' || outer === own || outer.endsWith(`.${own}`)) return outer;
  if (outer === '' || own.startsWith(`${outer}.`)) return own;
  return `${outer}.${own}`;
}
