import { z } from 'zod';

/** A number of bytes as typed. */
export const sizeBytesSchema = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number of bytes')
  .transform(Number);
