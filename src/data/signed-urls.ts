/** URLs with a signature: a service may send the same image or file with a new one in each answer. */
import { mapTexts } from './json.js';

const url = /^[a-z][a-z0-9+.-]*:\/\/\S*$/i;
const signature = /[?&](?:(?:x-[a-z]+-|q-|temp_url_)?(?:signature|sig)|token|hm)=/i;
/** The parameters that come with a signature: of AWS, Google, Azure, Alibaba, Tencent, Swift, Discord and CDNs. */
const signed =
  /^(?:x-(?:amz|goog|oss|cos)-.*|q-.*|temp_url_(?:sig|expires)|signature|sig|(?:security-)?token|policy|expire[sd]?|exp|\w*access_?key_?id|googleaccessid|key-pair-id|s[eiprtv]|ske?|sk[stv]|sk[ot]id|spr|hm|ex|is)$/i;

/** True if a text contains a URL whose query holds a signature, with which anybody could open it. */
export function holdsSignedUrl(text: string): boolean {
  return text.includes('://') && text.split(/\s/).some(isSigned);
}

function isSigned(word: string): boolean {
  return word.includes('://') && signature.test(word);
}

/** Returns a text, which may be JSON, with `instead` in place of the query of each signed URL in it. */
export function withoutSignedQueries(text: string, instead = ''): string {
  if (!text.includes('://')) return text;
  return text.replace(/[^\s"<>\\\p{Cc}]+/gu, (word) =>
    isSigned(word) ? word.replace(/[?&].*/, instead) : word,
  );
}

/** Returns a signed URL without its signature and what comes with it, any other text as it is. */
export function withoutSignature(text: string): string {
  if (!url.test(text) || !signature.test(text)) return text;
  const [bare = '', ...query] = text.split(/[?&]/);
  // Another version or file of the same path is another URL.
  const others = query.filter((parameter) => {
    const [name = ''] = parameter.split('=', 1);
    return name !== '' && !signed.test(name);
  });
  return others.length === 0 ? bare : `${bare}?${others.join('&')}`;
}

/** True if both texts are the same URL, signed at different times. */
export function isSignedAgain(one: string, other: string): boolean {
  const bare = withoutSignature(one);
  return bare !== one && bare !== other && bare === withoutSignature(other);
}

/** Returns a value whose signed URLs have no signatures. */
export function withoutSignatures(value: unknown): unknown {
  return mapTexts(value, withoutSignature);
}

/** True if the text is a URL with a query, which may hold a signature, or contains a signed URL. */
export function mayHoldSignature(text: string): boolean {
  return startsWithQuery(text) || holdsSignedUrl(text);
}

function startsWithQuery(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^?\s]*\?/i.test(text);
}

/** Drops the queries of URLs within a value that may hold a signature. */
export function withoutQueries(value: unknown): unknown {
  return mapTexts(value, (text) =>
    startsWithQuery(text) ? text.slice(0, text.indexOf('?')) : withoutSignedQueries(text),
  );
}
