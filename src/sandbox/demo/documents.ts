/** The documents of the demo data: what their records say, and their files in `papers/`. */
import { readFileSync } from 'node:fs';
import { demoOrganization } from '../../config/profiles.js';

interface DemoDocument {
  readonly name: string;
  /** Its name in the folder `papers`. */
  readonly file: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly daysAgo: number;
  /** The length of the file, stated here so that a list reads no file; a test compares. */
  readonly sizeBytes: number;
}

const pdf = 'application/pdf';
const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** The fourteen documents; their ids follow from their order. */
export const demoDocuments: readonly DemoDocument[] = [
  document(
    'Player contract Nimbus Kite.pdf',
    pdf,
    ['contract', '2026-spring', 'valorant'],
    51,
    663,
  ),
  document('Player contract Tarn Ember.pdf', pdf, ['contract', '2026-spring'], 44, 662),
  document('Code of conduct.pdf', pdf, ['legal'], 300, 637),
  document('Guardian consent form.pdf', pdf, ['legal'], 290, 628),
  document('NDA.docx', word, ['legal', 'contract'], 120, 952),
  document('Budget 2026.xlsx', sheet, ['2026-spring'], 33, 1606),
  document('Travel roster.xls', 'application/vnd.ms-excel', ['travel'], 21, 3584),
  document('Scrim notes week 12.txt', 'text/plain', ['valorant', '2026-spring'], 5, 215),
  document('Packing list.txt', 'text/plain', ['travel'], 20, 32),
  document('Team photo spring.jpg', 'image/jpeg', ['2026-spring'], 40, 1245),
  document('Team photo stage.png', 'image/png', ['valorant', 'travel'], 18, 434),
  document('Team photo small.webp', 'image/webp', [], 17, 448),
  document('Logo animation.gif', 'image/gif', ['2026-spring'], 200, 511),
  document('Old travel policy, 2019.doc', 'application/msword', ['travel', 'legal'], 2500, 4096),
];

/** The object key of the document with this index. */
export function demoFileKey(index: number): string {
  const { name } = demoDocuments[index] ?? { name: '' };
  const number = String(index + 1).padStart(4, '0');
  return `${prefix}${number}${name.slice(name.lastIndexOf('.'))}`;
}

/** Reads the file with this object key; undefined for a key that is not of the demo data. */
export function demoFile(key: string): Buffer | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const index = Number(key.slice(prefix.length, prefix.length + 4)) - 1;
  const found = demoFileKey(index) === key ? demoDocuments[index] : undefined;
  return found && readPaper(found);
}

/** Reads the file of a document; the build copies the folder beside the bundled module. */
export function readPaper({ file }: DemoDocument): Buffer {
  return readFileSync(new URL(`papers/${file}`, import.meta.url));
}

const prefix = `documents/${demoOrganization}/demo_`;

function document(
  name: string,
  contentType: string,
  tags: readonly string[],
  daysAgo: number,
  sizeBytes: number,
): DemoDocument {
  const file = name.toLowerCase().replaceAll(/[ ,]+/g, '-');
  return { name, file, contentType, tags, daysAgo, sizeBytes };
}
