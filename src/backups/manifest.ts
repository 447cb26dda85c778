/** The manifest of a snapshot: what it holds, with the hash of each file and of the manifest itself. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { digestOf } from '../data/digest.js';
import { objectIn, printJson } from '../data/json.js';
import { resourceWords } from '../data/resources.js';
import { unreadable } from '../files/input-file.js';
import { DamagedFileError, manifestFile, requireFile, type Snapshot } from './layout.js';

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const size = z.number().check(z.nonnegative());
const resourceSchema = z.enum(Object.keys(resourceWords) as (keyof typeof resourceWords)[]);

const Content = z.object({
  schema: z.literal(1),
  name: z.string(),
  /** Version of the program that made it. */
  version: z.string(),
  contract: z.string(),
  /** scheme://host:port and the path of the base URL. */
  origin: z.string(),
  organization: z.string(),
  startedAt: z.string(),
  finishedAt: z.string(),
  complete: z.boolean(),
  resources: z.array(z.object({ resource: resourceSchema, records: size, bytes: size, sha256 })),
  /** The files of documents; null if the backup was made without them. */
  files: z.nullable(
    z.object({
      /** Of documents.csv. */
      bytes: size,
      sha256,
      documents: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          bytes: size,
          sha256,
          /** When the record was last changed; without that, `record` is a hash of the record. */
          updatedAt: z.optional(z.string()),
          record: z.optional(z.string()),
          /**
           * `unchanged`: kept from an earlier snapshot, because the record's time is the same. `assumed`:
           * kept because the record is the same, which has no time; its file was not compared.
           */
          how: z.enum(['fetched', 'unchanged', 'assumed']),
        }),
      ),
    }),
  ),
  missing: z.array(
    z.object({ resource: resourceSchema, id: z.nullable(z.string()), reason: z.string() }),
  ),
});

/** The content of a snapshot: where its records come from, each file with its hash, and the parts that are missing. */
export type Manifest = Readonly<z.infer<typeof Content>>;
/** The file of a document in a snapshot. */
export type StoredDocument = NonNullable<Manifest['files']>['documents'][number];
/** Something that was asked for and is not in a snapshot; without an id, all records of a resource. */
export type MissingPart = Manifest['missing'][number];

/** Returns the text of a manifest, whose last field is the hash of everything else. */
export function sealManifest(content: Manifest): string {
  return `${printJson({ ...content, sha256: digestOf(content) }, { indent: 1 })}\n`;
}

/** Reads the manifest of a snapshot. Throws InputError for one that is damaged or cannot be read. */
export async function readSnapshotManifest({ path, name, isWhole }: Snapshot): Promise<Manifest> {
  const file = join(path, manifestFile);
  await requireFile(file);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error);
  });
  const value = objectIn(text);
  if (!value) throw new DamagedFileError(file);
  if (typeof value['schema'] === 'number' && value['schema'] > 1)
    throw new DamagedFileError(
      file,
      'was made by a newer version of rosterctl',
      'Update rosterctl.',
    );
  const { sha256: _, ...content } = value;
  const { success, data } = Content.safeParse(content);
  // The text must be ours to the last byte, so that no change of it goes unnoticed.
  if (!success || sealManifest(content as Manifest) !== text) throw new DamagedFileError(file);
  if (data.name !== name.replace('.incomplete', '') || data.complete !== isWhole)
    throw new DamagedFileError(
      file,
      `belongs to another snapshot, ${data.name}`,
      'The folder was renamed. Change its name back.',
    );
  return data;
}
