import { displayWidth } from './width.js';

/**
 * What the build gives cli-table3 and ora in place of the package `string-width`: one measure for
 * all of the tool. They hand over text with our own SGR colour in it, which takes no columns.
 */
export default function stringWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex
  return displayWidth(text.includes('\u001b') ? text.replace(/\u001b\[[\d;]*m/g, '') : text);
}

// cli-table3 is CommonJS and calls what `require` returns.
export { stringWidth as 'module.exports' };
