/** The formats of `-o`. */
export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'ids'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The styles of `--time`. */
export const timeStyles = ['iso', 'local', 'relative'] as const;
