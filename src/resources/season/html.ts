/** The page of `report` as one HTML file, without scripts, links or anything loaded. */
import { groupedNumber, percent } from '../../data/text.js';
import { longDay } from '../../data/time.js';
import {
  type ChartRow,
  pageWords,
  type SeasonChart,
  type SeasonPage,
  type TimeColumns,
} from './page.js';

/** Finished HTML; every other text is escaped where it is put into some. */
class Markup {
  constructor(readonly text: string) {}
}

/** Nothing is loaded and no script runs, whatever the page holds. */
const policy = "default-src 'none'; style-src 'unsafe-inline'";

/** Returns the page as HTML; data is placed in text only, never in an attribute. */
export function seasonHtml(page: SeasonPage): string {
  const { title, lead, warning, foot } = pageWords(page);
  const { total, charts } = page;
  const all = typeof total === 'number' ? total : 0;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}, ${longDay(page.madeAt)}</title>
<style>${new Markup(pageStyle)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="lead">${lead}</p>
${warning === undefined ? [] : html`<p class="warning"><strong>${warning}</strong></p>`}
</header>
<main>
${charts.map((chart) => section(chart, all))}
</main>
<footer>
${foot.map((line) => html`<p>${line}</p>\n`)}</footer>
</body>
</html>
`.text;
}

/** The table behind a chart over time is printed only up to so many rows; a screen shows all when asked. */
const mostPrinted = 16;
const shortDetails = new Markup('<details>');
const longDetails = new Markup('<details class="long">');

function section(chart: SeasonChart, total: number): Markup {
  const { title, note, instead, timeline } = chart;
  const below =
    instead !== undefined
      ? html`<p class="instead">${instead}</p>`
      : timeline
        ? html`${columnsOf(timeline)}${chart.rows.length > mostPrinted ? longDetails : shortDetails}
<summary>The numbers</summary>
${table(chart, total, false)}
</details>`
        : table(chart, total, true);
  const notes = [note, timeline?.scale].filter((text) => text !== undefined).join(' ');
  return html`<section>
<h2>${title}</h2>
${notes === '' ? [] : html`<p class="note">${notes}</p>\n`}${below}
</section>
`;
}

function table({ title, unit, rows }: SeasonChart, total: number, hasBars: boolean): Markup {
  const largest = rows.reduce((most, { count }) => Math.max(most, count ?? 0), 1);
  const row = ({ label, count, words }: ChartRow) => html`<tr>
<th scope="row"><bdi>${label}</bdi>${hasBars && count !== undefined ? bar(count / largest) : []}</th>
${
  count === undefined
    ? html`<td colspan="2" class="words">${words ?? ''}</td>`
    : html`<td>${groupedNumber(count)}</td>
<td class="share">${percent(total === 0 ? 0 : count / total)}</td>`
}
</tr>
`;
  return html`<table>
<caption>${title}</caption>
<thead><tr><th scope="col">${unit}</th><th scope="col">Applications</th><th scope="col">Share</th></tr></thead>
<tbody>
${rows.map(row)}</tbody>
</table>`;
}

/** One bar, of which the part from 0 to 1 is filled. */
function bar(part: number): Markup {
  return html`<svg class="bar" aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none"><rect class="track" width="100" height="4"/><rect class="fill" width="${(part * 100).toFixed(2)}" height="4"/></svg>`;
}

const chartHeight = 40;
const fewWeeks = 5;

function columnsOf({ columns, from, to }: TimeColumns): Markup {
  const end = columns.reduce((most, { first, width }) => Math.max(most, first + width), 0);
  const highest = columns.reduce((most, { height }) => Math.max(most, height), 0);
  const bars = columns.map((column) => {
    const height = (column.height / highest) * chartHeight;
    const at = { x: column.first + 0.06, y: chartHeight - height, width: column.width - 0.12 };
    return html`<rect class="fill" x="${at.x.toFixed(2)}" y="${at.y.toFixed(2)}" width="${at.width.toFixed(2)}" height="${height.toFixed(2)}"/>`;
  });
  // A single week must not fill the page.
  const frame = new Markup(`timeline${end < fewWeeks ? ' narrow' : ''}`);
  return html`<div class="${frame}"><svg class="weeks" aria-hidden="true" viewBox="0 0 ${end} ${chartHeight}" preserveAspectRatio="none">${bars}</svg>
<p class="axis" aria-hidden="true"><span>${from}</span><span>${to}</span></p></div>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template literal that escapes every value but finished HTML. */
function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Markup | readonly Markup[])[]
): Markup {
  const texts = values.map((value) => {
    if (value instanceof Markup) return value.text;
    if (typeof value === 'object') return value.map(({ text }) => text).join('');
    return String(value).replace(/[&<>"']/g, (mark) => entities[mark] ?? '');
  });
  return new Markup(parts.map((part, index) => part + (texts[index] ?? '')).join(''));
}

/** The style sheet; it names no address. */
export const pageStyle = `
:root { color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --muted: #57606a; --line: #d8dee4;
  --fill: #2563a8; --track: #e9edf1; --warning: #8a3b12; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171b; --text: #e6e8eb; --muted: #a4adb8; --line: #323942;
  --fill: #6ea8e6; --track: #262c34; --warning: #f0a777; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 44rem;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; }
h2 { margin: 0 0 .25rem; font-size: 1.15rem; overflow-wrap: anywhere; }
p { margin: 0; overflow-wrap: anywhere; }
.lead { margin-top: .25rem; font-size: 1.1rem; }
.warning { margin-top: .75rem; padding: .5rem .75rem; border: 1px solid currentColor; border-radius: .375rem; color: var(--warning); }
section { margin-top: 2rem; }
.note, .instead, .axis, footer, summary, thead th, .share, .words { color: var(--muted); }
.note, .axis, footer, thead th { font-size: .875rem; }
.note { margin-bottom: .5rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { padding: .3rem 0; text-align: right; vertical-align: top; font-weight: normal; }
th:first-child { width: 100%; text-align: left; overflow-wrap: anywhere; }
td, thead th + th { padding-left: 1.25rem; white-space: nowrap; }
thead th { border-bottom: 1px solid var(--line); }
svg { display: block; width: 100%; forced-color-adjust: none; }
.bar { height: .5rem; margin-top: .15rem; border-radius: .25rem; }
.narrow { max-width: 18rem; }
.weeks { height: 9rem; border-bottom: 1px solid var(--line); }
.fill { fill: var(--fill); }
.track { fill: var(--track); }
.axis { display: flex; justify-content: space-between; gap: 1rem; margin: .25rem 0 .5rem; }
.axis span + span { text-align: right; }
summary { cursor: pointer; }
footer { margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid var(--line); }
@page { size: A4; margin: 16mm 18mm; }
@media print {
  :root { color-scheme: light; --page: #ffffff; --text: #1b1f24; --muted: #57606a; --line: #d8dee4;
    --fill: #2563a8; --track: #e9edf1; --warning: #8a3b12; }
  body { max-width: none; padding: 0; font-size: 10.5pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  section { margin-top: 1.25rem; }
  section, tr, .timeline { break-inside: avoid; }
  h2, .note, thead { break-after: avoid; }
  summary, .long { display: none; }
  details::details-content { content-visibility: visible; height: auto; display: block; }
}
`;
