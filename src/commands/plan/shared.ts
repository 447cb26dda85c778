/** Shared by the `plan` commands: their argument. */
import { param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';

/** The plan file to work on. */
export const planArgs = {
  file: param(nonEmptyText, 'a file that --plan wrote', { placeholder: 'FILE', completes: 'file' }),
};
