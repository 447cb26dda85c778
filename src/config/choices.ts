/** The words that settings and flags accept. */

/** The formats of `-o`. */
export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'ids', 'xlsx'] as const;
/** The formats that the setting `output` may have: a workbook needs a file, so it is only asked for. */
export const usualFormats = outputFormats.filter((format) => format !== 'xlsx');
export type OutputFormat = (typeof outputFormats)[number];

/** True if programs read what is printed: then errors are JSON, too. */
export function isJsonFormat(format: string | undefined): boolean {
  return format === 'json' || format === 'ndjson';
}

const formats: { readonly [extension: string]: OutputFormat | undefined } = {
  '.csv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.xlsx': 'xlsx',
};

/** Returns the extension of a file in lower case: `.csv`. */
export function extensionOf(file: string | undefined): string | undefined {
  return /\.\w+$/.exec(file ?? '')?.[0].toLowerCase();
}

/** Returns the format that the extension of a file promises, if it is one of ours. */
export function promisedFormat(file: string | undefined): OutputFormat | undefined {
  return formats[extensionOf(file) ?? ''];
}

/** The built-in profile of the sandbox service, which `-p` accepts and which is never stored. */
export const sandboxProfile = 'sandbox';

/** The styles of `--time`. */
export const timeStyles = ['iso', 'local', 'relative'] as const;

/** The note on a PUT for updates of which no setting says whether it replaces the record. */
export function replacementNote(key: string): string {
  return `A PUT may replace the whole record. Say what this one does, replace or merge: rosterctl config set ${key}.semantics VALUE`;
}
