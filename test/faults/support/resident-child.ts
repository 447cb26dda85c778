import { inProcess } from '../../support/in-process.js';

process.on('message', ([words, options]: Parameters<typeof inProcess>) => {
  inProcess(words, options).then(
    (ran) => process.send?.({ ran }),
    (error: Error) => process.send?.({ failed: error.stack }),
  );
});
process.on('disconnect', () => process.exit());
