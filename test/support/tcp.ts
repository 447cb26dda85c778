import { type AddressInfo, createServer, type ServerOpts, type Socket } from 'node:net';
import { atEnd } from './cleaning.js';

/** A bare TCP server; it is gone with the test file. */
export interface TcpService {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  connections(): number;
}

/** Does what no HTTP server would; `count` is from 1. */
export async function tcpService(
  onConnection: (socket: Socket, count: number) => unknown,
  options: ServerOpts = {},
): Promise<TcpService> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer(options, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket, ++count);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, connections: () => count };
}
