import { demoOrganization } from '../keys.js';
import { gif, jpeg, png, webp } from './images.js';
import { doc, docx, pdf, xls, xlsx } from './papers.js';

/** A document of the demo data: what its record says and how its bytes are made. */
export interface DemoDocument {
  readonly name: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly daysAgo: number;
  /** The length of what `make` makes, told here so that a list need not make it; a test compares. */
  readonly sizeBytes: number;
  readonly make: () => Buffer;
}

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const scrimNotes = `Scrim notes, Falkenmoor vs. Lanternfish\n\nMap 1 Split 13-9\n  - B retake too slow, call the smoke earlier\n  - Überraschung: their double A push on round 7\nMap 2 Bind 8-13\n  - eco rounds thrown away, talk on Thursday\n`;

/** The fourteen documents; their ids follow from their order. */
export const demoDocuments: readonly DemoDocument[] = [
  paper('Player contract Nimbus Kite.pdf', ['contract', '2026-spring', 'valorant'], 51, 663, [
    'Player contract (demo)',
    'between the demo organization and Nimbus Kite',
  ]),
  paper('Player contract Tarn Ember.pdf', ['contract', '2026-spring'], 44, 662, [
    'Player contract (demo)',
    'between the demo organization and Tarn Ember',
  ]),
  paper('Code of conduct.pdf', ['legal'], 300, 637, [
    'Code of conduct (demo)',
    'Be kind. Be on time.',
  ]),
  paper('Guardian consent form.pdf', ['legal'], 290, 628, [
    'Guardian consent (demo)',
    'Signature:',
  ]),
  made('NDA.docx', word, ['legal', 'contract'], 120, 1364, () =>
    docx(['Non-disclosure agreement (demo)', 'Nothing in here is secret.']),
  ),
  made('Budget 2026.xlsx', sheet, ['2026-spring'], 33, 2480, () =>
    xlsx([
      ['Item', 'Amount'],
      ['Travel', '1200'],
      ['Jerseys', '640'],
    ]),
  ),
  made('Travel roster.xls', 'application/vnd.ms-excel', ['travel'], 21, 5632, xls),
  made('Scrim notes week 12.txt', 'text/plain', ['valorant', '2026-spring'], 5, 215, () =>
    Buffer.from(scrimNotes),
  ),
  made('Packing list.txt', 'text/plain', ['travel'], 20, 32, () =>
    Buffer.from('Headset\nMouse\nPassport\nPatience\n'),
  ),
  made('Team photo spring.jpg', 'image/jpeg', ['2026-spring'], 40, 170, () => jpeg(64, 48)),
  made('Team photo stage.png', 'image/png', ['valorant', 'travel'], 18, 4708, () => png(48, 32)),
  made('Team photo small.webp', 'image/webp', [], 17, 34, webp),
  made('Logo animation.gif', 'image/gif', ['2026-spring'], 200, 85, gif),
  made('Old travel policy, 2019.doc', 'application/msword', ['travel', 'legal'], 2500, 5632, () =>
    doc('Travel policy (demo)'),
  ),
];

/** The object key of the document at this place. */
export function demoFileKey(index: number): string {
  const { name } = demoDocuments[index] ?? { name: '' };
  const number = String(index + 1).padStart(4, '0');
  return `${prefix}${number}${name.slice(name.lastIndexOf('.'))}`;
}

/** The bytes behind a key, always the same; undefined for a key that is not of the demo data. */
export function demoFile(key: string): Buffer | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const index = Number(key.slice(prefix.length, prefix.length + 4)) - 1;
  return demoFileKey(index) === key ? demoDocuments[index]?.make() : undefined;
}

const prefix = `documents/${demoOrganization}/demo_`;

function made(
  name: string,
  contentType: string,
  tags: readonly string[],
  daysAgo: number,
  sizeBytes: number,
  make: () => Buffer,
): DemoDocument {
  return { name, contentType, tags, daysAgo, sizeBytes, make };
}

function paper(
  name: string,
  tags: readonly string[],
  daysAgo: number,
  sizeBytes: number,
  lines: readonly string[],
): DemoDocument {
  return made(name, 'application/pdf', tags, daysAgo, sizeBytes, () => pdf(lines));
}
