/** Links in an application: web addresses that may be opened, each with the host that it really leads to. */
import { isObject, type JsonObject } from '../data/json.js';

/** A web address as it is passed on, in ASCII. */
export interface WebLink {
  readonly url: string;
  /** In ASCII: letters that look like others are spelt out (`xn--…`). */
  readonly host: string;
}

const address = /https?:\/\/[^\s<>"'`|\\^{}\p{Cc}\p{Cf}]+/giu;
const maxTextLength = 64 * 1024;
const maxLinks = 20;

/** Returns the links of a record: those of its answers first, in the order of the form, then all others. */
export function linksIn(record: JsonObject): readonly WebLink[] {
  const { formResponses, ...others } = record;
  const links = new Map<string, WebLink>();
  for (const text of textsIn([formResponses, others]))
    for (const [found] of text.slice(0, maxTextLength).matchAll(address)) {
      const link = webLinkOf(found);
      if (link && links.size < maxLinks) links.set(link.url, link);
    }
  return [...links.values()];
}

/** Returns the link in a text; undefined unless it is http or https without a user name. */
function webLinkOf(text: string): WebLink | undefined {
  // Punctuation that ends a sentence, or closes a bracket opened before the address, is not part of it.
  const bare = text.replace(/[.,;:!?]+$/, '').replace(/^([^(]*)\)+$/, '$1');
  if (!URL.canParse(bare)) return undefined;
  const { protocol, username, password, host, href } = new URL(bare);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  if (username !== '' || password !== '' || host === '') return undefined;
  return { url: href, host };
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each);
  else if (isObject(value)) for (const each of Object.values(value)) yield* textsIn(each);
}
