/** Draws docs/terminal.svg: what the built program prints in a terminal of 80 columns. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import width from 'fast-string-width';
import { afterErasing, inTerminal } from './terminal.mjs';

const columns = 80;

/** The commands that the picture shows, with their expected exit codes; each runs as a new user would type it. */
const scene = [
  [0, () => 'tryouts list --status pending --game Valorant --limit 5'],
  [0, ([first]) => `tryouts update ${first} --status shortlisted --dry-run`],
  [0, ([first]) => `tryouts update ${first} --status shortlisted \\\n    --fields id,name,status`],
  [2, ([first]) => `tryouts update ${first} --status acepted`],
];

/** Runs the commands in a fresh home folder and returns the picture. */
export async function picture() {
  const home = await mkdtemp(join(tmpdir(), 'rosterctl-picture-'));
  try {
    let ids = [];
    let screen = '';
    for (const [expected, step] of scene) {
      const line = step(ids);
      const words = ['-p', 'sandbox', ...line.replace(/\\\n */, '').split(' ')];
      const { code, text } = await inTerminal(words, { home, columns });
      if (code !== expected) throw new Error(`rosterctl ${line} ended with ${code}: ${text}`);
      if (ids.length === 0) ids = [...text.matchAll(/app_\w+/g)].map(([id]) => id);
      screen += `\u001b[1m$ rosterctl -p sandbox ${line}\u001b[22m\n${afterErasing(text).trimEnd()}\n\n`;
    }
    return draw(screen.trimEnd());
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

// --- the screen ---

/** Renders a terminal's text with colours as SVG. */
export function draw(text) {
  const lines = screenLines(text);
  const height = lines.length * lineHeight + 2 * margin;
  const breadth = columns * cell + 2 * margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${breadth} ${height}" width="${breadth}" height="${height}" role="img" aria-label="A terminal session with rosterctl">`,
    `<rect width="100%" height="100%" rx="8" fill="#16181d"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#d6d9e0">`,
    ...lines.flatMap((line, row) => line.map((run) => drawRun(run, row))),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const cell = 8.4;
const lineHeight = 20;
const margin = 16;
/** Red, green, yellow, blue, magenta, cyan on a dark ground. */
const shades = ['#f0717b', '#8cc265', '#e5c07b', '#6cb6f5', '#c792ea', '#5cc8c8'];
/** The sixteen colours of a terminal by their code. */
const palette = Object.fromEntries([
  [30, '#16181d'],
  [37, '#d6d9e0'],
  [90, '#8b919d'],
  [97, '#ffffff'],
  ...shades.flatMap((shade, place) => [31, 91].map((first) => [first + place, shade])),
]);

function drawRun({ text, at, style }, row) {
  const x = round(margin + at * cell);
  const y = margin + row * lineHeight + 15;
  const colour = palette[style.colour];
  const looks = [
    colour && `fill="${colour}"`,
    style.bold && 'font-weight="bold"',
    style.dim && 'opacity="0.6"',
    style.italic && 'font-style="italic"',
    style.underline && 'text-decoration="underline"',
  ].filter(Boolean);
  // A fixed text length keeps the columns aligned in any font.
  const length = round(width(text) * cell);
  const attributes = [
    `x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"`,
    ...looks,
  ];
  return `<text ${attributes.join(' ')}>${escape(text)}</text>`;
}

const esc = '\u001b';
/** A control sequence, a line end, or the text between them. */
const pieces = new RegExp(`${esc}\\[([\\d;?]*[A-Za-z])|\\n|\\r|[^${esc}\\n\\r]+`, 'g');

/** Returns the final lines of the screen, each a list of runs of one style. */
function screenLines(text) {
  const rows = [[]];
  let row = 0;
  let column = 0;
  let style = {};
  for (const [piece, control] of text.matchAll(pieces)) {
    if (piece === '\n') {
      row += 1;
      column = 0;
      rows[row] ??= [];
    } else if (piece === '\r') column = 0;
    else if (control === undefined) {
      for (const { segment } of graphemes.segment(piece)) {
        const breadth = width(segment);
        if (column + breadth > columns) {
          row += 1;
          column = 0;
          rows[row] ??= [];
        }
        rows[row][column] = { segment, style };
        if (breadth === 2) rows[row][column + 1] = undefined;
        column += breadth;
      }
    } else {
      const count = Number.parseInt(control, 10) || 0;
      if (control.endsWith('m')) style = restyled(style, control.slice(0, -1));
      if (control.endsWith('K'))
        rows[row].length = count === 2 ? 0 : Math.min(rows[row].length, column);
      if (control.endsWith('G')) column = Math.max(count, 1) - 1;
      if (control.endsWith('A')) row = Math.max(row - (count || 1), 0);
    }
  }
  return rows.map(runsOf);
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function runsOf(cells) {
  const runs = [];
  for (let column = 0; column < cells.length; column += width(cells[column]?.segment ?? ' ')) {
    const { segment, style } = cells[column] ?? { segment: ' ', style: {} };
    const last = runs.at(-1);
    if (last && sameLook(last.style, style)) last.text += segment;
    else runs.push({ text: segment, at: column, style });
  }
  return runs.flatMap(apart);
}

function sameLook(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Splits a run at wide gaps, so that each piece is drawn at its own column. */
function apart({ text, at, style }) {
  return [...text.matchAll(/\S+(?: \S+)*/g)].map((found) => ({
    text: found[0],
    at: at + width(text.slice(0, found.index)),
    style,
  }));
}

function restyled(style, codes) {
  let now = style;
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) now = {};
    else if (code === 1) now = { ...now, bold: true };
    else if (code === 2) now = { ...now, dim: true };
    else if (code === 3) now = { ...now, italic: true };
    else if (code === 4) now = { ...now, underline: true };
    else if (code === 22) now = without(now, ['bold', 'dim']);
    else if (code === 23) now = without(now, ['italic']);
    else if (code === 24) now = without(now, ['underline']);
    else if (code === 39) now = without(now, ['colour']);
    else if (palette[code]) now = { ...now, colour: code };
  }
  return now;
}

function without(style, names) {
  return Object.fromEntries(Object.entries(style).filter(([name]) => !names.includes(name)));
}

function round(number) {
  return Math.round(number * 10) / 10;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
