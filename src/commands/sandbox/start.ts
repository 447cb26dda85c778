/** `rosterctl sandbox start`: runs the sandbox as a server. */
import * as z from 'zod/mini';
import { defineLocalCommand, flag, LongRunning, param, params } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { readBucketFile } from '../../sandbox/bucket-file.js';
import { seedSizes, startSandbox } from '../../sandbox/embedded.js';
import { sandboxPlace } from './place.js';

const ServerInfo = z.object({
  baseUrl: z.string(),
  organizationId: z.string(),
  apiKey: z.string(),
  fileUrl: z.string(),
  pid: z.number(),
});

const port = z
  .pipe(
    z.string().check(z.regex(/^\d{1,5}$/, 'must be a port from 0 to 65535')),
    z.transform(Number),
  )
  .check(z.refine((number) => number <= 65_535, 'must be a port from 0 to 65535'));

export default defineLocalCommand({
  summary: 'Run the sandbox as a server, for scripts and other tools',
  about:
    'Prints one line when it is ready and runs until Ctrl-C or SIGTERM. Commands with -p sandbox use it while it runs, if it has the same data. --s3 lets uploads go to a bucket of an S3-compatible store: rosterctl help sandbox.',
  examples: [
    ['On the kept data and ports', ''],
    [
      'On another folder with 1,200 applications, for a script',
      '--data ./sandbox --seed-size large --json',
    ],
  ],
  calls: [],
  flags: {
    port: param(z.optional(port), 'the port of the API; 0 for any', { placeholder: 'N' }),
    data: param(
      z.optional(z.string().check(z.minLength(1, 'must name a folder'))),
      'keep the data in this folder',
      {
        placeholder: 'DIR',
        completes: 'directory',
      },
    ),
    seedSize: param(z.optional(z.enum(seedSizes)), 'the demo data of a first use', {
      placeholder: 'SIZE',
    }),
    fault: params(
      z.optional(z.array(z.string())),
      "what to do to which requests: 'PATCH /tryout-applications/* #2 close-after'",
      { placeholder: 'RULE' },
    ),
    s3: param(
      z.optional(z.string().check(z.minLength(1, 'must name a file'))),
      'uploads go to the bucket that this private JSON file describes',
      { placeholder: 'FILE', completes: 'file' },
    ),
    strictEvents: flag('every update that carries a status emits its events'),
  },
  view: {
    ...linesOf(ServerInfo, ({ baseUrl, organizationId, apiKey }) => [
      `Sandbox ready at ${baseUrl}, organization ${organizationId}, key ${apiKey} (Ctrl-C stops it)`,
    ]),
    oneLine: true,
  },
  async run(context, { port: api, data, seedSize, fault, s3, strictEvents }) {
    const server = await startSandbox({
      ...sandboxPlace(context, data),
      ...(seedSize && { seedSize }),
      ...(api !== undefined && { ports: { api } }),
      faults: fault,
      strictEvents,
      ...(s3 !== undefined && { bucket: readBucketFile(s3, { owner: context.paths.owner }) }),
    });
    if (server.memoryReason !== undefined)
      context.message(`The data is in memory and ends with this server: ${server.memoryReason}`);
    const { baseUrl, organizationId, apiKey, fileUrl, pid } = server;
    return new LongRunning(
      { baseUrl, organizationId, apiKey, fileUrl, pid },
      () => untilAborted(context.signal),
      () => server.close(),
    );
  },
});

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
