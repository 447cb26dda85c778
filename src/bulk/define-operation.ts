/** Defines a command that changes records: the engine carries out its operation. */
import type { Command, OperationCommand, Params } from '../cli/define.js';
import type { View } from '../cli/views.js';
import type { Context } from '../context.js';
import type { BulkValues } from './flags.js';
import type { Operation } from './operation.js';

/** What such a command says of itself. */
type Described<A extends Params, F extends Params> = Omit<
  OperationCommand<A, F>,
  'run' | 'view' | 'operation' | 'asks'
>;

/** A command that changes records, by an operation. `view`: what one id prints. */
export function defineOperation<A extends Params, F extends Params, T>(
  command: Described<A, F> & { readonly operation: Operation; readonly view: View<T> },
): Command {
  const { operation } = command;
  return {
    kind: 'operation',
    local: false,
    asks: !operation.createsRow,
    ...command,
    async run(context: Context, values: object, words: readonly string[]) {
      const { runOperation } = await import('./run-operation.js');
      const { view } = command;
      return runOperation(context, { operation, words, view, values: values as BulkValues });
    },
  } as unknown as Command;
}
