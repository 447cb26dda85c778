/** Starts a server on a free loopback port; returns its origin and the function that closes it. */
import { createServer } from 'node:http';

export function serve(answer) {
  const server = createServer(answer);
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve({
        origin: `http://127.0.0.1:${server.address().port}`,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      }),
    ),
  );
}
