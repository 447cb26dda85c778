/** Lists behind any path, for `rosterctl api --paginate`. */
import { isObject } from '../data/json.js';
import { normalName } from '../data/path.js';
import { type Overrides, type ResourceName, resourceNames } from '../data/resources.js';
import { UsageError } from '../errors.js';
import { listAnswered } from './answers.js';
import { findList } from './list-envelope.js';
import { PageFollower, pathBelow } from './page-follower.js';
import { Paging } from './paging.js';
import { configured, ifKnown, refusedText, SeenRecords, unknownPage } from './record-list.js';
import { withTextId } from './records.js';
import { resources } from './resources.js';
import { listedAt } from './routes.js';
import type { Api } from './types.js';

/**
 * Reads all records behind a path that the contract may not know, page by page, on the same origin.
 * Throws UsageError if the response contains no list; calls `warn` if the list may be incomplete.
 */
export async function readRawList(
  api: Pick<Api, 'raw' | 'baseUrl' | 'organizationId'>,
  path: string,
  { overrides, warn }: { overrides: Overrides; warn: (message: string) => void },
): Promise<readonly unknown[]> {
  const first = new URL(`${api.baseUrl}${path}`);
  const route = first.pathname.slice(new URL(api.baseUrl).pathname.length);
  const listed = listedAt(route);
  const idName = listed && configured(overrides, `ids.${listed}`);
  const listPath = listed && configured(overrides, `lists.${listed}.path`);
  const seen = new SeenRecords((row) => withTextId(row, idName));
  const all: unknown[] = [];
  const resource = resourceIn(route);
  const pages = new PageFollower(first, new Paging(resource, overrides, first.searchParams), api);
  const search = { resource, idName, path: listPath };
  let place: readonly string[] | undefined;
  for (;;) {
    const read = await ifKnown(readPage(api, pages.url, { ...search, place }), pages.number);
    if (!read) {
      warn(`The list may be incomplete: ${unknownPage}.`);
      return all;
    }
    const { items, refusal, ...page } = read;
    place ??= page.place;
    if (refusal) warn(`The list may be incomplete: ${refusedText(refusal)}.`);
    seen.count = seen.fresh = 0;
    const ofPage = new Set<string | undefined>();
    for (const item of items) {
      const isNew = seen.add(isObject(item) ? item : { item }) !== undefined;
      // Any path can be read: rows of one page may share an id, and only an earlier page is repeated.
      if (!isNew && !ofPage.has(seen.lastId)) continue;
      if (!isNew) seen.received++;
      ofPage.add(seen.lastId);
      all.push(item);
    }
    const { count, fresh, received, lastId } = seen;
    const end = pages.after({ ...page, count, fresh, arrived: received, lastId });
    if (!end) continue;
    if (end.state === 'doubtful') warn(`The list may be incomplete: ${end.reason}.`);
    return all;
  }
}

async function readPage(
  api: Pick<Api, 'raw' | 'baseUrl'>,
  url: URL,
  search: Parameters<typeof findList>[1],
) {
  const path = pathBelow(api.baseUrl, url);
  const template = path.split('?')[0] ?? path;
  const call = { method: 'GET', path: template };
  const response = await api.raw({ method: 'GET', path, template, needsJson: true });
  const { status, headers } = response;
  const { body, found, refusal } = listAnswered(
    response,
    { call, origin: url.origin },
    (answer): { rows: readonly unknown[]; place?: readonly string[] } | undefined =>
      Array.isArray(answer) ? { rows: answer as unknown[] } : findList(answer, search),
    search.idName,
  );
  if (found) return { items: found.rows, place: found.place, body, status, headers, refusal };
  throw new UsageError(`The answer to GET ${template} holds no list to paginate.`, {
    hint: 'Leave --paginate out.',
  });
}

/** Returns the resource whose path it begins with, for its envelopes and pages; any other is read as teams are. */
function resourceIn(path: string): ResourceName {
  const word = normalName(path.split('/')[1] ?? '');
  return resourceNames.find((name) => resources[name].envelopes.includes(word)) ?? 'teams';
}
