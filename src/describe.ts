/** Derived files: the command table and the documents that the build and `npm run generate` write. */
import { openApiDocument } from './api/openapi.js';
import { completionScripts } from './cli/completion/scripts.js';
import { describeCommands } from './cli/manifest.js';
import { manPages } from './cli/pages/man-page.js';
import { assumptionsPage, exitCodeRows, referencePage } from './cli/pages/reference.js';
import { sandboxGuide, topicTexts } from './cli/pages/topics.js';
import { commands, everywhere } from './commands/index.js';
import { settingKeys } from './config/keys.js';
import type { CommandManifest } from './data/command-manifest.js';

export { manifestText } from './data/command-manifest.js';

import { inventions } from './sandbox/personality.js';

/** The data files that the build writes beside the bundle: the plain command table, the help topics, the settings. */
export async function describe(version: string): Promise<{
  table: CommandManifest;
  topics: { readonly [name: string]: string };
  settings: readonly (readonly [name: string, text: string, words: readonly string[]])[];
}> {
  const described = await describeCommands(commands);
  const topics = topicTexts();
  return {
    table: {
      version,
      ...described,
      everywhere,
      topics: topics.map(({ name, about }) => ({ name, about })),
    },
    topics: Object.fromEntries(topics.map(({ name, text }) => [name, text])),
    settings: [...settingKeys().values()].map(
      ({ name, text, parse: { words = [] } }) => [name, text, words] as const,
    ),
  };
}

/** Returns the files that `npm run generate` derives from the tables, by path; `date` is YYYY-MM-DD. */
export function documents(
  table: CommandManifest,
  date: string,
): { readonly [path: string]: string } {
  const completions = Object.values(completionScripts);
  const manuals = Object.entries(manPages(table, { date }));
  return {
    ...Object.fromEntries(
      completions.map(({ fileName, text }) => [`completions/${fileName}`, text]),
    ),
    'docs/reference.md': referencePage(table),
    'docs/openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
    'docs/assumptions.md': assumptionsPage(inventions),
    'docs/sandbox.md': sandboxGuide(),
    ...Object.fromEntries(manuals.map(([name, text]) => [`man/${name}`, text])),
  };
}

/** Returns the generated sections of the README, by the NAME of their `<!-- NAME -->` markers. */
export function scriptsParts(): { readonly [name: string]: string } {
  return { 'exit-codes': exitCodeRows() };
}
