/** Compares notes by what a person reads, because a service may store its own form of a text. */
import { plainText } from '../data/path.js';
import { isSameValue } from '../data/sorting.js';
import { normalizedText } from '../data/text.js';

/** Normalized notes: LF line ends, NFC, no control characters or substitutes for them, trimmed. */
export function plainNotes(notes: unknown): string {
  return storedForm(plainText(notes).replace(controls, ''));
}

/** Returns a text as a service may store it: with LF line ends, in NFC, trimmed. */
export function storedForm(text: string): string {
  return normalizedText(text.replaceAll('\r\n', '\n').trim());
}

const controls = /[^\P{Cc}\n\t]|[\ufffd\u2400-\u2421]/gu;

/** True if the notes end with this text, with a date before it or without. */
export function endsWithNote(notes: string, text: string): boolean {
  const lines = plainNotes(notes).split('\n');
  const [first = '', ...more] = plainNotes(text).split('\n');
  const start = lines.length - 1 - more.length;
  const line = lines[start];
  const begins = line !== undefined && (line === first || withoutDate(line) === first);
  return begins && isSameValue(lines.slice(start + 1), more);
}

/** True if the notes hold this dated text anywhere, on whatever day: it may have been typed before midnight. */
export function holdsNote(notes: unknown, dated: string): boolean {
  return holdsLines(notes, dated, withoutDate);
}

/** True if the notes hold this text of this day anywhere. */
export function holdsDatedNote(notes: unknown, dated: string): boolean {
  return holdsLines(notes, dated, (line) => line);
}

function holdsLines(notes: unknown, dated: string, read: (line: string) => string): boolean {
  const lines = plainNotes(notes).split('\n');
  const [first = '', ...more] = plainNotes(dated).split('\n');
  return lines.some(
    (line, at) =>
      read(line) === read(first) && isSameValue(lines.slice(at + 1, at + 1 + more.length), more),
  );
}

function withoutDate(line: string): string {
  return line.replace(/^\d{4}-\d\d-\d\d: /, '');
}
