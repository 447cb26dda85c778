/** The style of the page of `report`: light and dark, from a phone to paper. */

/** The style sheet; it names no address. */
export const style = `
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
