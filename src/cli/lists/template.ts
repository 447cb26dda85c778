/** `--template`: one line for each record, with fields in braces and filters after a bar. */
import type { Settings } from '../../config/settings.js';
import { csvLine } from '../../data/csv.js';
import { localDay } from '../../data/dates.js';
import { type JsonObject, printJson } from '../../data/json.js';
import { didYouMean } from '../../data/nearest.js';
import { isNested, plainText } from '../../data/path.js';
import { orList, unsafeCharacters } from '../../data/text.js';
import { momentOf, relativeTime } from '../../data/time.js';
import { UsageError } from '../../errors.js';
import { chooseFields } from '../chosen-fields.js';
import { batchWriter, type Sink } from '../sink.js';
import type { View } from '../views.js';
import type { Rows } from '../writers.js';

type TemplatePiece = string | { readonly field: string; readonly filters: readonly Filter[] };

type Filter = (value: unknown, now: Date) => unknown;

const filters: Readonly<Record<string, Filter>> = {
  ago: (value, now) => withMoment(value, (moment) => relativeTime(moment, now)),
  date: (value) => withMoment(value, localDay),
  json: (value) => printJson(value ?? null),
  csv: (value) => csvLine([oneLine(templateText(value))], { delimiter: ',', raw: false }).trimEnd(),
  md: (value) => markdownText(oneLine(templateText(value))),
};

/** Parses a template: `{field}`, `{field|filter}`, `{{` for a brace. Throws UsageError. */
export function parseLineTemplate(text: string): readonly TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  for (const [found, brace, inner] of text.matchAll(/(\{\{)|\{([^{}]*)\}|[^{]+|\{/g)) {
    if (brace !== undefined) pieces.push('{');
    else if (inner !== undefined) pieces.push(fieldPiece(inner));
    else if (found === '{')
      throw new UsageError('The template has an unclosed brace.', {
        hint: fieldHint,
      });
    else pieces.push(found);
  }
  // A template of gh or kubectl: it would print the same line for each record.
  if (/\{\{[^{}]*\}\}/.test(text) && fieldsInPieces(pieces).length === 0)
    throw new UsageError('The template names no field.', { hint: fieldHint });
  return pieces;
}

const fieldHint = "Write {name} for a field, and {{ for a brace: --template '{name} <{email}>'";

function fieldPiece(inner: string): TemplatePiece {
  const [field = '', ...names] = inner.split('|').map((part) => part.trim());
  if (field === '')
    throw new UsageError('The template has braces without a field.', {
      hint: 'Write {name} for a field, and {{ for a brace.',
    });
  return { field, filters: names.map(filterNamed) };
}

function filterNamed(name: string): Filter {
  const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
  if (filter) return filter;
  const known = Object.keys(filters);
  throw new UsageError(`Unknown filter "${name}" in the template.${didYouMean(name, known)}`, {
    hint: `Filters: ${orList(known)}`,
  });
}

/** Returns the fields that `--fields` or `--template` names. */
export function chosenFields({
  fields = [],
  template,
}: Pick<Settings, 'fields' | 'template'>): readonly string[] {
  return template === undefined ? fields : fieldsInPieces(parseLineTemplate(template));
}

function fieldsInPieces(pieces: readonly TemplatePiece[]): readonly string[] {
  return pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.field]));
}

/**
 * Writes each record as a line made from the template. Throws UsageError, before the first line, for a
 * field that neither the contract nor any record has, or passes it to `onUnknownField`.
 */
export async function writeTemplate(
  sink: Sink,
  rows: Rows,
  text: string,
  view: Pick<View<never>, 'resource' | 'columns' | 'rowFields' | 'listed'>,
  {
    now,
    onUnknownField,
  }: { readonly now: Date; readonly onUnknownField: ((error: UsageError) => void) | undefined },
): Promise<void> {
  const pieces = parseLineTemplate(text);
  const fields = fieldsInPieces(pieces);
  const records =
    fields.length === 0
      ? rows
      : chooseFields(rows, fields, view, { keepsLabels: true, onUnknownField });
  const batch = batchWriter(sink);
  try {
    for await (const record of records)
      await batch.push(`${lineOf(record as JsonObject, pieces, now)}\n`);
  } finally {
    // Records that arrived before the response broke off are still written.
    await batch.flush();
  }
}

function lineOf(record: JsonObject, pieces: readonly TemplatePiece[], now: Date): string {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const value = record[piece.field];
      const { filters: chain } = piece;
      if (chain.length === 0) return oneLine(templateText(value));
      return templateText(chain.reduce<unknown>((text, filter) => filter(text, now), value));
    })
    .join('');
}

function templateText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && !isNested(value)) return value.map(plainText).join(', ');
  return plainText(value);
}

function withMoment(value: unknown, show: (moment: Date) => string): unknown {
  const moment = typeof value === 'string' ? momentOf(value) : undefined;
  return moment ? show(moment) : oneLine(templateText(value));
}

/** Replaces what could end a line, or hide or reorder text, by a space. */
function oneLine(text: string): string {
  return text.replaceAll('\r\n', ' ').replace(unsafeCharacters, ' ');
}

/** A mark of no width, after which a service no longer sees a mention or an address. */
const gap = '\u200b';

/**
 * Escapes Markdown, and disarms links, images, mentions, `#12`, table bars and backticks. An ampersand too,
 * since `&#64;` becomes an `@` before some services look for addresses.
 */
export function markdownText(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>#+|~!&-]/g, (mark) => `\\${mark}`)
    .replaceAll('@', `@${gap}`)
    .replace(/:(?=\/\/)/g, `:${gap}`)
    .replace(/#(?=\d)/g, `#${gap}`)
    .replace(/www\./gi, (found) => `${found.slice(0, 3)}${gap}.`);
}
