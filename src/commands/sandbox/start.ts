/** `rosterctl sandbox start`: runs the sandbox as a server. */

import * as z from 'zod/mini';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag, param, params } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';
import { lowerFirst } from '../../data/text.js';
import { untilAborted } from '../../data/time.js';
import { UsageError } from '../../errors.js';
import {
  type SandboxServer,
  sandboxOptions,
  seedSizes,
  startSandbox,
} from '../../sandbox/embedded.js';
import { shapeWords } from '../../sandbox/shapes/table.js';
import { commandLines } from '../../terminal/whole-words.js';

type ServerInfo = Pick<SandboxServer, 'baseUrl' | 'organizationId' | 'apiKey' | 'fileUrl' | 'pid'>;

const portNumber = z
  .pipe(
    z.string().check(z.regex(/^\d{1,5}$/, 'must be a port from 0 to 65535')),
    z.transform(Number),
  )
  .check(z.refine((number) => number <= 65_535, 'must be a port from 0 to 65535'));

export default defineLocalCommand({
  summary: 'Run the sandbox as a server, for scripts and other tools',
  about:
    'Prints one line when it is ready and runs until Ctrl-C or SIGTERM. While it runs, commands with -p sandbox use it, unless --data names another folder.',
  examples: [
    ['With your sandbox data, on any free port', ''],
    [
      'On separate data with 1,200 applications, for a script',
      '--data ./sandbox --seed-size large --json',
    ],
    ['Behave like another service', '--shape list=data --shape paging=cursor'],
  ],
  flags: {
    port: param(z.optional(portNumber), 'the port of the API; any free one by default', {
      placeholder: 'N',
    }),
    data: param(
      z.optional(z.string().check(z.minLength(1, 'must name a folder'))),
      'keep the data in this folder',
      { placeholder: 'DIR', completes: 'directory' },
    ),
    seedSize: param(z.optional(z.enum(seedSizes)), 'the demo data to start with', {
      placeholder: 'SIZE',
    }),
    fault: params(
      z.optional(z.array(z.string())),
      "inject a fault: 'PATCH /tryout-applications/* #2 close-after'",
      { placeholder: 'RULE' },
    ),
    shape: params(
      z.optional(z.array(z.string())),
      'answer as another service would: list=data, paging=cursor; see docs/sandbox.md',
      { placeholder: 'KEY=VALUE', completes: `pair:${shapeWords}` },
    ),
    strictEvents: flag('also emit events for an update to the current status'),
  },
  view: {
    ...linesView<ServerInfo>(({ baseUrl, organizationId, apiKey }, { isTerminal }) =>
      isTerminal
        ? [
            'The sandbox is ready.',
            `Base URL      ${baseUrl}`,
            `Organization  ${organizationId}`,
            `API key       ${apiKey}`,
          ]
        : [
            `Sandbox ready at ${baseUrl}, organization ${organizationId}, key ${apiKey} (stop it with Ctrl-C)`,
          ],
    ),
    oneLine: true,
  },
  async run(context, { port, data, seedSize, fault, shape, strictEvents }) {
    if (context.settings.dryRun)
      throw new UsageError('sandbox start has no dry run: it changes demo data only.', {
        hint: 'Leave --dry-run (or ROSTERCTL_DRY_RUN) out.',
      });
    const server = await startSandbox({
      ...sandboxOptions(context, data),
      ...(seedSize && { seedSize }),
      port,
      faults: fault,
      shapes: shape,
      strictEvents,
    });
    if (server.memoryReason !== undefined)
      context.message(
        `The data is in memory and lost when this server ends: ${lowerFirst(server.memoryReason)}`,
      );
    const { baseUrl, organizationId, apiKey, fileUrl, pid } = server;
    const running = { baseUrl, organizationId, apiKey, fileUrl, pid };
    return new ValueWithExit(running, 'done', {
      keepRunning() {
        // Below the line that says it is ready; a script reads that line alone.
        if (context.isInteractive) {
          const { columns } = context.streams.stderr;
          const login = `rosterctl auth login --profile demo --base-url ${baseUrl} --org ${organizationId}`;
          context.note('Log in to it from another terminal:');
          for (const line of commandLines(login, columns, 2)) context.note(line);
          context.note('Stop it with Ctrl-C.');
        }
        return untilAborted(context.signal);
      },
      release: () => server.close(),
    });
  },
});
