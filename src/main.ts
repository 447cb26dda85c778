/** Entry point: makes a world of the process that the launcher hands in, and gives it the exit code. */
import { commandLine } from './command-line.js';
import type { World } from './context.js';
import { readManifest } from './data/command-manifest.js';
import { systemCode } from './data/system-errors.js';
import { exit } from './exit-codes.js';
import type { Host } from './run-parsed.js';
import { createDirectWrite } from './terminal/stream-writer.js';
import { createStreams, leaveTerminals, mayBeTerminal } from './terminal/streams.js';

/** The launcher's part: the data files of dist/, and a check that the bundle would load too early. */
interface Distribution {
  /** The text of table.json. */
  readonly table: string;
  /** Called only when a topic is requested. */
  readonly topics: () => { readonly [name: string]: string };
  /**
   * Called only where output depends on a terminal, because `node:tty` loads much of `node:net`. Absent
   * where the three streams are not those of descriptors 0 to 2.
   */
  readonly isTerminal?: (descriptor: 0 | 1 | 2) => boolean;
}

/** The part of `process` that the program uses. */
type ProgramProcess = Parameters<typeof createStreams>[0] &
  Host &
  Pick<NodeJS.Process, 'argv' | 'env' | 'versions' | 'getuid' | 'hrtime' | 'exitCode'>;

/** Runs one command line and sets the exit code; everything below gets `process` passed in as a world. */
export async function main(
  { table, topics, isTerminal }: Distribution,
  process: ProgramProcess,
): Promise<void> {
  const terminals = new Set<0 | 1 | 2>();
  const streams = createStreams(
    process,
    isTerminal && {
      isTerminal(descriptor) {
        const isOne = mayBeTerminal(descriptor, process.platform) && isTerminal(descriptor);
        if (isOne) terminals.add(descriptor);
        return isOne;
      },
      // On Windows, direct writes differ from those of a stream.
      write: process.platform === 'win32' ? undefined : createDirectWrite(),
    },
  );
  const world: World = {
    argv: process.argv.slice(2),
    env: process.env,
    platform: process.platform,
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    self: { pid: process.pid, isAlive: (pid) => isAlive(pid, process), atExit: new Set() },
    table: readManifest(table),
    topics,
    streams,
    // Not `performance`, whose first use adds 2 ms to the start-up.
    clock: () => Number(process.hrtime.bigint()) / 1e6,
    known: {},
  };
  const line = commandLine(world, process);
  // Node's own crash report would bypass the redactor.
  process.on('uncaughtException', (error) => {
    void line.printFailure(error).finally(() => process.exit(exit.failed));
  });
  process.on('exit', () => {
    for (const end of world.self.atExit ?? []) end();
    if ([...terminals].some((each) => !isTerminal?.(each))) process.exitCode = exit.hungUp;
    if (isTerminal) leaveTerminals(process.platform);
  });
  process.exitCode = await line.execute();
  if (streams.hasAbandonedWrite) process.exit();
}

/** Returns true if a process with this id exists; EPERM means that it does, under another user. */
function isAlive(pid: number, process: Host): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
