import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One port that is being listened on. */
export interface Listening {
  readonly port: number;
  /** Lets running requests finish, ends the rest; resolves within about two seconds. */
  close(): Promise<void>;
}

/** The only address that a sandbox is served on. */
export const loopback = '127.0.0.1';

/** How a server behaves towards the process it lives in. */
export interface ListenOptions {
  /** Keep the process alive; an embedded server does not. */
  readonly holdsProcess: boolean;
}

const graceMs = 2000;

/** Listens on a port (0 = any free one); undefined when it is taken or not ours to take. */
export function listenOn(
  port: number,
  listener: RequestListener,
  { holdsProcess }: ListenOptions,
): Promise<Listening | undefined> {
  const server = createServer(listener);
  if (!holdsProcess) {
    server.unref();
    server.on('connection', (socket) => socket.unref());
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen(port, loopback, () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => closeServer(server) }),
    );
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept connection becomes idle only when its answer is out.
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(end);
}
