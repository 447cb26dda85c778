/** Lists behind any path, for `rosterctl api --paginate`. */
import { isObject } from '../data/json.js';
import { type Overrides, resourceNames } from '../data/resources.js';
import { UsageError } from '../errors.js';
import { bodyOf, failureOf, refusalIn } from './answers.js';
import { nextPageOf } from './pager.js';
import { defaultCaps, pathBelow, refusalOf, refusedText, targetOf } from './record-list.js';
import { findList } from './records.js';
import { resource } from './resources.js';
import type { Api, ResourceName } from './types.js';

/**
 * Reads all records behind a path that the contract may not know, page by page, on the same origin.
 * Throws UsageError if the response contains no list; calls `note` if the list may be incomplete.
 */
export async function readRawList(
  api: Pick<Api, 'raw' | 'baseUrl' | 'organizationId'>,
  path: string,
  { overrides, note }: { overrides: Overrides; note: (message: string) => void },
): Promise<readonly unknown[]> {
  const first = new URL(`${api.baseUrl}${path}`);
  const visited = new Set<string>();
  const knownIds = new Set<unknown>();
  const all: unknown[] = [];
  let rows = 0;
  for (let url = first, number = 1; ; number++) {
    visited.add(url.href);
    // oxlint-disable-next-line no-await-in-loop
    const { items, body, headers, refusal } = await readPage(api, url);
    if (refusal) note(`The list may be incomplete: ${refusedText(refusal)}.`);
    const fresh = items.filter((item) => !knownIds.has(idOf(item)));
    // Spreading a long page into one `push` would overflow the stack.
    for (const item of fresh) {
      if (idOf(item) !== undefined) knownIds.add(idOf(item));
      all.push(item);
    }
    rows += items.length;
    const page = { body, headers, count: items.length, arrived: all.length, number, rows };
    const step = nextPageOf(page, overrides);
    if ('end' in step) {
      if (step.end === 'doubtful') note(`The list may be incomplete: ${step.reason}.`);
      return all;
    }
    url = targetOf(step.next, first, url);
    const isEndless = number >= defaultCaps.pages || all.length >= defaultCaps.records;
    const problem = isEndless
      ? 'the list does not end'
      : (refusalOf(url, first, api) ?? problemOf(url, visited, fresh.length));
    if (problem === undefined) continue;
    note(`The list may be incomplete: ${problem}.`);
    return all;
  }
}

function problemOf(next: URL, visited: ReadonlySet<string>, fresh: number): string | undefined {
  if (visited.has(next.href)) return 'the service names a page that was already read';
  return fresh === 0 ? 'the service sends nothing new any more' : undefined;
}

async function readPage(api: Pick<Api, 'raw' | 'baseUrl'>, url: URL) {
  const path = pathBelow(api.baseUrl, url);
  const template = path.split('?')[0] ?? path;
  const call = { method: 'GET', path: template };
  const response = await api.raw({ method: 'GET', path, template });
  const { status } = response;
  const failure = status < 400 ? undefined : failureOf(response, call);
  if (failure) throw failure;
  const body = bodyOf(response, { call, origin: url.origin, needsJson: true });
  const items = Array.isArray(body)
    ? (body as unknown[])
    : findList(body, resourceIn(template), undefined);
  const hasRows = items !== undefined && items.length > 0;
  const refusal = refusalIn(body, status, call, hasRows || undefined);
  if (refusal && !hasRows) throw refusal;
  if (!items)
    throw new UsageError(`The answer of GET ${template} holds no list to paginate.`, {
      hint: 'Leave --paginate out.',
    });
  return { items, body, headers: response.headers, refusal };
}

/** Guesses the resource from the path, for the name of its envelope. */
function resourceIn(path: string): ResourceName {
  const word =
    path
      .split('/')[1]
      ?.toLowerCase()
      .replace(/[^a-z]/g, '') ?? '';
  return resourceNames.find((name) => resource(name).envelopes.includes(word)) ?? 'teams';
}

function idOf(item: unknown): unknown {
  return isObject(item) ? item['id'] : undefined;
}
