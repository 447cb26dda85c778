/** The two servers of a sandbox, the API and the file store, each on a port of its own. */
import { UsageError } from '../errors.js';
import { createFaults } from './faults.js';
import { newFileListener } from './file-store.js';
import type { Home } from './home.js';
import { newKeyRing } from './keys.js';
import { type Listening, type ListenOptions, listenOn, loopback } from './listening.js';
import { defaultPersonality } from './personality.js';
import { newSecret } from './sandbox-settings.js';
import { newApiListener } from './server.js';
import { newSigner } from './signed-url.js';

export interface ServeOptions extends ListenOptions {
  readonly now: () => Date;
  /** The port of the API; any free one by default. */
  readonly port?: number | undefined;
  /** Rules of `parseFaultRule`. */
  readonly faults?: readonly string[] | undefined;
  readonly strictEvents?: boolean | undefined;
}

export interface Serving {
  readonly origin: string;
  /** The origin of the file store, which signed URLs name. */
  readonly fileUrl: string;
  /** Proves the identity of this server, and opens its routes outside `/v1`. */
  readonly token: string;
  close(): Promise<void>;
}

/** Starts the API and the file store. Throws UsageError when the wanted port is taken. */
export async function serveHome(home: Home, options: ServeOptions): Promise<Serving> {
  const { state, bytes, secret } = home;
  const { now } = options;
  const token = newSecret();
  // Of this server alone: its URLs end with it.
  const urlSecret = newSecret();
  const faults = createFaults(options.faults ?? []);
  const files = await listen(
    newFileListener({ state, bytes, secret: urlSecret, now, faults }),
    options,
  );
  const apiListener = newApiListener({
    state,
    grantOf: newKeyRing(secret),
    personality: { ...defaultPersonality, strictEvents: options.strictEvents ?? false },
    urls: newSigner(urlSecret, originOf(files)),
    admin: { token, events: () => state.read().events, faults },
    faults,
    now,
  });
  const api = await listen(apiListener, options, options.port).catch(async (error: unknown) => {
    await files.close();
    throw error;
  });
  return {
    origin: originOf(api),
    fileUrl: originOf(files),
    token,
    async close() {
      await api.close();
      await files.close();
      state.close();
    },
  };
}

const originOf = ({ port }: Listening) => `http://${loopback}:${port}`;

async function listen(
  listener: Parameters<typeof listenOn>[1],
  options: ListenOptions,
  port = 0,
): Promise<Listening> {
  const listening = await listenOn(port, listener, options);
  if (listening) return listening;
  throw new UsageError(`Port ${port} is taken, or not yours to use.`, {
    hint: 'Choose another with --port, or leave it out for any free one',
  });
}
