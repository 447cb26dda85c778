import { readFileSync, realpathSync } from 'node:fs';
import * as z from 'zod/mini';
import { ConfigError, InputError } from '../errors.js';
import { inspectPrivateFile, type Ownership } from '../files/private.js';
import type { BucketAccess } from './presign.js';

const text = z.string().check(z.regex(/^[\u0021-\u007e]{1,512}$/, 'must be a text without blanks'));

const BucketFile = z.strictObject({
  endpoint: z.string().check(z.refine(isEndpoint, 'must be an http or https URL')),
  bucket: z.string().check(z.regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be a bucket name')),
  region: z.string().check(z.regex(/^[a-z0-9-]{1,32}$/, 'must be a region')),
  accessKeyId: text,
  secretAccessKey: text,
});

/**
 * Reads which bucket takes the uploads, and the key pair that signs for it. Throws InputError for
 * what is no such description (its values are never shown), ConfigError for a file that others can
 * read or that belongs to another user.
 */
export function readBucketFile(file: string, ownership: Ownership): BucketAccess {
  const content = readPrivately(file, ownership);
  const read = z.safeParse(BucketFile, parsed(file, content));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') ?? '';
  const what =
    issue?.code === 'unrecognized_keys' ? `unknown: ${issue.keys.join(', ')}` : undefined;
  throw new InputError(`${file}: ${[field, what ?? issue?.message].filter(Boolean).join(' ')}.`, {
    hint: shape,
  });
}

const shape = `It is JSON with ${Object.keys(BucketFile.def.shape).join(', ')}: rosterctl help sandbox`;

function readPrivately(file: string, ownership: Ownership): string {
  try {
    // What a link leads to is what others could read.
    const found = inspectPrivateFile(realpathSync(file), ownership);
    if (found.state === 'present' && found.loose)
      throw new ConfigError(`${file} holds a secret key, and others can read it.`, {
        hint: `Make it yours alone: chmod 600 ${file}`,
      });
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : code;
    throw new InputError(`${file} cannot be read: ${why}.`, { hint: shape, cause: error });
  }
}

function parsed(file: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    // The parser's own message would show a piece of what is in it.
    throw new InputError(`${file} is no JSON.`, { hint: shape });
  }
}

function isEndpoint(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password, search, hash } = new URL(given);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => !part);
}
