/** Derived files: the command table and the documents that the build and `npm run generate` write. */
import { openApiDocument } from './api/openapi.js';
import { completionScripts } from './cli/completion/scripts.js';
import { describeCommands } from './cli/manifest.js';
import { manPages } from './cli/pages/man-page.js';
import { assumptionsPage, exitCodeRows, referencePage } from './cli/pages/reference.js';
import { sandboxGuide, topicTexts } from './cli/pages/topics.js';
import { commands, withoutConnection } from './commands/index.js';
import { settingKeys } from './config/keys.js';
import { type CommandManifest, manifestText } from './data/command-manifest.js';
import { inventions } from './sandbox/personality.js';

/** Returns the data files that the build writes beside the bundle, by name: the plain command table, the help topics, the settings. */
export async function describe(version: string): Promise<{ readonly [name: string]: string }> {
  const described = await describeCommands(commands);
  const topics = topicTexts();
  const table = {
    version,
    ...described,
    withoutConnection,
    topics: topics.map(({ name, about }) => ({ name, about })),
  };
  const settings = [...settingKeys().values()].map(({ name, text, parse: { words = [] } }) => [
    name,
    text,
    words,
  ]);
  return {
    'table.json': manifestText(table),
    'topics.json': JSON.stringify(Object.fromEntries(topics.map(({ name, text }) => [name, text]))),
    'settings.json': JSON.stringify(settings),
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

/** Returns the generated sections of docs/scripts.md, by the NAME of their `<!-- NAME -->` markers. */
export function scriptsParts(): { readonly [name: string]: string } {
  return { 'exit-codes': exitCodeRows() };
}
