import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
/** The README and docs/scripts.md. */
export const readme = `${read('README.md')}\n${read('docs/scripts.md')}`;

/** The blocks for a shell, with their first command, and the lines for cron without their times. */
export const shell = blocks('sh').map((block) => [firstCommand(block), block] as const);
export const cron = blocks('crontab')
  .flatMap((block) => block.split('\n'))
  .filter((line) => /^[\d*]/.test(line))
  .map((line) => line.split(/\s+/).slice(5).join(' '));

/** The fenced blocks of a language, without the indentation of a surrounding list. */
function blocks(language: string): string[] {
  const found = readme.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\``, 'gm'));
  return [...found].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd(),
  );
}

function firstCommand(block: string): string {
  return block.split('\n').find((line) => !line.startsWith('#')) ?? '';
}
