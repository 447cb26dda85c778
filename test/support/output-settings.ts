import type { OutputSettings } from '../../src/cli/output.js';

/** How a value is shown when nothing was asked for. */
export const plainOutput: OutputSettings = {
  output: 'table',
  fields: undefined,
  out: undefined,
  bom: false,
  delimiter: ',',
  csvRaw: false,
  noHeader: false,
  quiet: false,
  verbose: false,
  template: undefined,
  forcedWidth: undefined,
  time: undefined,
  pager: undefined,
  overrides: {},
};
