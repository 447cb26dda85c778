import * as z from 'zod/mini';

/** A number of bytes as typed. */
export const sizeBytesSchema = z.pipe(
  z.string().check(z.regex(/^\d{1,15}$/, 'must be a whole number of bytes')),
  z.transform(Number),
);
