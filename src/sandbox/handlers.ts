import type { HandlerCall, Handlers, Reply } from './handler.js';
import type { EndpointName } from '../api/contract.js';
import { documentHandlers } from './documents.js';
import { playerHandlers } from './players.js';
import { teamHandlers } from './teams.js';
import { tryoutHandlers } from './tryouts.js';
import { uploadHandlers } from './uploads.js';

const handlers: Handlers = {
  ...teamHandlers,
  ...playerHandlers,
  ...documentHandlers,
  ...uploadHandlers,
  ...tryoutHandlers,
};

/** Runs the behaviour of one endpoint. */
export function handle(name: EndpointName, call: HandlerCall): Reply {
  // The route that matched has filled the params that its handler names.
  const run: (call: HandlerCall) => Reply = handlers[name];
  return run(call);
}
