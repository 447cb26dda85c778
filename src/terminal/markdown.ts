/** Text of others inside Markdown. */

/** A mark of no width, after which a service no longer sees a mention or an address. */
const gap = '\u200b';

/**
 * Escapes Markdown, and disarms links, images, mentions, `#12`, table bars and backticks. An ampersand too,
 * since `&#64;` becomes an `@` before some services look for addresses.
 */
export function markdownText(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>#+|~!&-]/g, (mark) => `\\${mark}`)
    .replaceAll('@', `@${gap}`)
    .replace(/:(?=\/\/)/g, `:${gap}`)
    .replace(/#(?=\d)/g, `#${gap}`)
    .replace(/www\./gi, (found) => `${found.slice(0, 3)}${gap}.`);
}
