/** Shared by the `plan` commands: their argument. */
import * as z from 'zod/mini';
import { param } from '../../cli/define.js';

/** The plan file to work on. */
export const planArgs = {
  file: param(z.string().check(z.minLength(1, 'must not be empty')), 'a file that --plan wrote', {
    placeholder: 'FILE',
    completes: 'file',
  }),
};
