/** The words that settings and flags accept. */

/** The formats of `-o`. */
export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'ids', 'xlsx'] as const;
/** The formats that the setting `output` may have: a workbook needs a file, so it is only asked for. */
export const usualFormats = outputFormats.filter((format) => format !== 'xlsx');
export type OutputFormat = (typeof outputFormats)[number];

/** The built-in profile of the sandbox service, which `-p` accepts and which is never stored. */
export const sandboxProfile = 'sandbox';

/** The styles of `--time`. */
export const timeStyles = ['iso', 'local', 'relative'] as const;

/** How questions are asked; `plain`: numbered lines and typed answers. */
export const promptStyles = ['auto', 'plain'] as const;

/** How a service pages; `auto` detects it. */
export const pagingModes = ['auto', 'none', 'page', 'offset', 'cursor', 'last-id'] as const;
/** The numbers that a first page may have. */
export const firstPages = ['auto', '0', '1'] as const;
/** The fate of fields that an update omits: they are kept, or removed. */
export const updateSemantics = ['merge', 'replace'] as const;
/** The place of the organization id in an update or delete. */
export const organizationPlaces = ['none', 'body', 'query'] as const;

const choices: readonly (readonly [key: RegExp, words: readonly string[]])[] = [
  [/^output$/, usualFormats],
  [/^time$/, timeStyles],
  [/^prompts$/, promptStyles],
  [/^completion\.cache$/, ['on', 'off']],
  [/^undo\.keep$/, ['30d', 'off']],
  [/^paging\.mode$/, pagingModes],
  [/^paging\.first$/, firstPages],
  [/^paging\.(next|total)$/, ['auto', 'none']],
  [/^endpoints\.\w+\.update\.semantics$/, updateSemantics],
  [/^endpoints\.\w+\.\w+\.org$/, organizationPlaces],
];

/** Returns the words that a setting accepts, for completion; none if it accepts any text. */
export function choicesOf(key: string): readonly string[] {
  return choices.find(([name]) => name.test(key))?.[1] ?? [];
}

/** The note on a PUT for updates of which no setting says whether it replaces the record. */
export function replacementNote(key: string): string {
  return `A PUT may replace the whole record. Say what this one does: rosterctl config set ${key}.semantics replace|merge`;
}
