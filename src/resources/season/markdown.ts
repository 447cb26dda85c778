/** The page of `report` as Markdown: a table for each chart. */

import { groupedNumber, percent } from '../../data/text.js';
import { markdownText } from '../../terminal/markdown.js';
import type { SeasonChart, SeasonPage } from './page.js';
import { pageWords } from './words.js';

/** Returns the page as Markdown; data is escaped, so that it stays text. */
export function seasonMarkdown(page: SeasonPage): string {
  const { title, lead, warning, foot } = pageWords(page);
  const all = typeof page.total === 'number' ? page.total : 0;
  const blocks = [
    `# ${markdownText(title)}`,
    markdownText(lead),
    ...(warning === undefined ? [] : [`**${markdownText(warning)}**`]),
    ...page.charts.flatMap((chart) => section(chart, all)),
    '---',
    ...foot.map(markdownText),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function section({ title, note, unit, rows, instead }: SeasonChart, total: number): string[] {
  const lines = rows.map(({ label, count, words = '' }) => {
    const numbers =
      count === undefined
        ? [words, '']
        : [groupedNumber(count), percent(total === 0 ? 0 : count / total)];
    return `| ${[label, ...numbers].map(markdownText).join(' | ')} |`;
  });
  const table = [`| ${unit} | Applications | Share |`, '| :-- | --: | --: |', ...lines].join('\n');
  return [
    `## ${markdownText(title)}`,
    ...(note === undefined ? [] : [markdownText(note)]),
    instead === undefined ? table : markdownText(instead),
  ];
}
