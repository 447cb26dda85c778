/** Replaces the package `string-width` in cli-table3 and ora. */
import { withoutColor } from './paint.js';
import { displayWidth } from './width.js';

/**
 * Measures with `displayWidth`, so that the entire tool agrees on widths. The callers pass text with
 * our own SGR colour in it, which takes no columns.
 */
export default function stringWidth(text: string): number {
  return displayWidth(text.includes('\u001b') ? withoutColor(text) : text);
}

// cli-table3 is CommonJS and calls the value that `require` returns.
export { stringWidth as 'module.exports' };
