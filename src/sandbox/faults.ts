/** The faults of a running sandbox: how their rules are written, which are in force, and the requests that it has received. */
import { parseDuration } from '../data/time.js';
import { UsageError } from '../errors.js';

type Port = 'api' | 'store';

/** A fault of one request. `header` and `skew` work alone or beside a kind. */
export interface Fault {
  readonly kind: FaultKind | undefined;
  /** The text after `kind=`. */
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How far the answer's Date is off, in milliseconds. */
  readonly skewMs: number;
}

/** A fault and the requests that it applies to. */
interface FaultRule {
  readonly text: string;
  readonly fault: Fault;
  matches(port: Port, method: string, path: string): boolean;
  /** True when it applies to the n-th matching request, from 1. */
  appliesTo(n: number): boolean;
}

/** A description of each kind, for help and errors; `store` = also on the file store. */
export const faultKinds = {
  'close-before': { text: 'close without carrying it out (=reset: with a reset)', store: true },
  'close-after': { text: 'carry it out, then close without an answer (=reset)', store: true },
  late: { text: 'close at once, carry it out after this time (=200ms)', store: false },
  'stall-headers': { text: 'carry it out and never answer (store: do nothing)', store: true },
  'stall-body': { text: 'carry it out and stop in the middle of the answer', store: false },
  truncate: { text: 'carry it out and close in the middle of the answer (=reset)', store: false },
  'wrong-length': {
    text: 'carry it out; content-length is off by this many bytes (=5, =-5)',
    store: false,
  },
  drip: { text: 'carry it out; send the answer one byte at a time (every =100ms)', store: false },
  status: { text: 'refuse with a status and a code (=503, =409:taken)', store: true },
  'status-after': { text: 'carry it out, then answer with a status (=500)', store: false },
  throttle: { text: '429 with that Retry-After (=5, =date+5s, =soon, or none)', store: true },
  redirect: { text: 'redirect (=https://host/path, =301:URL; else 307)', store: true },
  html: { text: 'answer with a web page (=status)', store: true },
  huge: { text: 'answer with this many bytes of JSON (=70000000)', store: false },
  deep: { text: 'answer with JSON nested this deep (=100000)', store: false },
  'other-record': { text: 'carry it out; the answer is about other records', store: false },
} as const satisfies Record<string, { text: string; store: boolean }>;

type FaultKind = keyof typeof faultKinds;

/** The kinds that requests to the file store take. */
export const storeKinds: readonly string[] = Object.entries(faultKinds)
  .filter(([, { store }]) => store)
  .map(([kind]) => kind);

/** The grammar of a rule; parts in brackets are optional. */
export const faultGrammar =
  '[METHOD] [/route|store] [#N|#N-M|#N+] KIND[=VALUE] [header=NAME:VALUE] [skew=1h]';

/**
 * Reads a rule: words for method, route (`*` for one segment, `**` for any rest, `store` for the
 * file store), the numbers of the matching requests, and the fault. Throws UsageError.
 */
function parseFaultRule(text: string): FaultRule {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const method = words.find((word) => /^[A-Z]+$/.test(word));
  const route = words.find((word) => word.startsWith('/'));
  const numbers = words.find((word) => word.startsWith('#'));
  const port = words.includes('store') ? 'store' : 'api';
  const rest = words.filter((word) => ![method, route, numbers, 'store'].includes(word));
  const fault = parseFault(rest, port, text);
  const pattern = route === undefined ? undefined : patternOf(route);
  const appliesTo = parseNumbers(numbers, text);
  return {
    text: words.join(' '),
    fault,
    appliesTo,
    matches: (onPort, onMethod, path) =>
      onPort === port &&
      (method === undefined || method === onMethod) &&
      (pattern === undefined || pattern.test(path)),
  };
}

function parseFault(words: readonly string[], port: Port, rule: string): Fault {
  let kind: FaultKind | undefined;
  let value = '';
  let skewMs = 0;
  const headers: Record<string, string> = {};
  for (const word of words) {
    const at = word.indexOf('=');
    const [name, given] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
    if (name === 'header') {
      const [, header, content] = /^([\w-]+):(.*)$/.exec(given) ?? [];
      if (header === undefined || content === undefined) throw badRule(rule);
      headers[header.toLowerCase()] = content;
    } else if (name === 'skew') {
      skewMs = given.startsWith('-') ? -parseDuration(given.slice(1)) : parseDuration(given);
    } else if (isKind(name) && kind === undefined) {
      kind = name;
      value = given;
    } else throw badRule(rule);
  }
  if (kind === undefined && words.length === 0) throw badRule(rule);
  if (kind !== undefined) checkValue(kind, value, port, rule);
  if (port === 'store' && (kind === undefined || !faultKinds[kind].store))
    throw badRule(rule, `Kinds for the file store: ${storeKinds.join(', ')}.`);
  return { kind, value, headers, skewMs };
}

function checkValue(kind: FaultKind, value: string, port: Port, rule: string): void {
  const forms: { readonly [K in FaultKind]?: RegExp } = {
    'close-before': /^(reset)?$/,
    'close-after': /^(reset)?$/,
    truncate: /^(reset)?$/,
    'wrong-length': /^-?[1-9]\d*$/,
    status: /^[1-9]\d\d(:[\w.-]+)?$/,
    'status-after': /^[1-9]\d\d(:[\w.-]+)?$/,
    redirect: /^(30[12378]:)?\S+$/,
    html: /^([1-9]\d\d)?$/,
    huge: /^\d+$/,
    deep: /^\d+$/,
  };
  if (!(forms[kind] ?? /^/).test(value)) throw badRule(rule);
  if (kind === 'late' || kind === 'drip') parseDuration(value);
  if (kind === 'throttle' && value.startsWith('date'))
    parseDuration(value.replace(/^date[+-]/, ''));
  if (port === 'store' && kind === 'redirect' && !/:\/\//.test(value)) throw badRule(rule);
}

function isKind(word: string): word is FaultKind {
  return Object.hasOwn(faultKinds, word);
}

function patternOf(route: string): RegExp {
  const parts = route
    .replace(/^\/v1(?=\/)/, '')
    .split('/')
    .map((part) => {
      if (part === '**') return '.*';
      return part === '*' || /^\{\w+\}$/.test(part)
        ? '[^/]+'
        : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    });
  return new RegExp(`^(/v1)?${parts.join('/')}$`);
}

function parseNumbers(word: string | undefined, rule: string): (n: number) => boolean {
  if (word === undefined) return () => true;
  const [, from, mark, to] = /^#(\d+)(?:([-+])(\d*))?$/.exec(word) ?? [];
  if (from === undefined || (mark === '-' && to === '')) throw badRule(rule);
  const first = Number(from);
  const last = mark === '+' ? Infinity : mark === '-' ? Number(to) : first;
  return (n) => n >= first && n <= last;
}

function badRule(
  rule: string,
  kinds = `Kinds: ${Object.keys(faultKinds).join(', ')}.`,
): UsageError {
  return new UsageError(`Not a fault rule: "${rule}".`, {
    hint: `Write ${faultGrammar}. ${kinds}`,
  });
}

/** One request and the fault that was applied to it; never a body, a key or a query. */
export interface RequestRecord {
  /** From 1, in the order of arrival over both ports. */
  readonly number: number;
  readonly port: Port;
  readonly method: string;
  readonly path: string;
  /** The text of the applied rule; null for an ordinary answer. */
  readonly fault: string | null;
  /** True when the request was carried out; null while it is being answered. */
  applied: boolean | null;
}

export interface Faults {
  /** Records a request and finds the first rule that applies to it. */
  register(
    port: Port,
    method: string,
    path: string,
  ): { readonly record: RequestRecord; readonly fault: Fault | undefined };
  /** Replaces all rules and resets their counts. Throws UsageError for an invalid one. */
  replace(rules: readonly string[]): void;
  /** Each rule, and how many requests have matched its method and route. */
  rules(): readonly { readonly rule: string; readonly requests: number }[];
  /** The newest requests, oldest first. */
  requests(): readonly RequestRecord[];
}

const keptRequests = 10_000;

/** Faults by rules such as `PATCH /tryout-applications/* #2 close-after` (see `parseFaultRule`). */
export function createFaults(rules: readonly string[]): Faults {
  let counted = read(rules);
  let received = 0;
  const records: RequestRecord[] = [];
  return {
    register(port, method, path) {
      let applied: FaultRule | undefined;
      for (const each of counted) {
        if (!each.rule.matches(port, method, path)) continue;
        each.requests += 1;
        if (each.rule.appliesTo(each.requests)) applied ??= each.rule;
      }
      received += 1;
      const fault = applied?.text ?? null;
      const record: RequestRecord = { number: received, port, method, path, fault, applied: null };
      records.push(record);
      if (records.length > keptRequests) records.shift();
      return { record, fault: applied?.fault };
    },
    replace(texts) {
      counted = read(texts);
    },
    rules: () => counted.map(({ rule, requests }) => ({ rule: rule.text, requests })),
    requests: () => records,
  };
}

function read(rules: readonly string[]) {
  return rules.map((text) => ({ rule: parseFaultRule(text), requests: 0 }));
}
