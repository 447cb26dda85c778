/** URLs with a signature: a service may send the same image or file with a new one in each answer. */
import { mapTexts } from './json.js';

const url = /^[a-z][a-z0-9+.-]*:\/\/\S*$/i;
const signature = /[?&](?:(?:x-[a-z]+-)?signature|sig|token|hm)=/i;

/** True if a text contains a URL whose query holds a signature, with which anybody could open it. */
export function holdsSignedUrl(text: string): boolean {
  return text.split(/\s/).some((word) => word.includes('://') && signature.test(word));
}

/** Returns a text that is a signed URL without its query, any other one as it is. */
export function withoutSignature(text: string): string {
  return url.test(text) && signature.test(text) ? text.slice(0, text.indexOf('?')) : text;
}

/** True if both texts are the same URL, signed at different times. */
export function isSignedAgain(one: string, other: string): boolean {
  const bare = withoutSignature(one);
  return bare !== one && bare !== other && bare === withoutSignature(other);
}

/** Returns a value whose signed URLs have no queries. */
export function withoutSignatures(value: unknown): unknown {
  return mapTexts(value, withoutSignature);
}
