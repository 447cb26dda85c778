import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../support/cleaning.js';

/** The fate of a write: delivered, its answer lost, its answer lost and its effect late, or dropped. */
export type Fate = 'through' | 'answerLost' | 'late' | 'dropped';

/** A write request as it arrived. */
export interface Arrival {
  readonly method: string;
  /** Empty for a create. */
  readonly id: string;
  readonly applied: boolean;
}

export interface Relay {
  readonly baseUrl: string;
  /** The write requests since `clear`, in order of arrival. */
  readonly arrivals: readonly Arrival[];
  readonly requests: number;
  clear(): void;
  close(): Promise<void>;
}

const lateMs = 60;
const latencyMs = 4;
/** Less than the time after which these tests let a lost write no longer take effect. */
const latestMs = 180;

/** A relay in front of a service that records writes, and loses them according to `fateOf`. */
export async function relayTo(
  baseUrl: string,
  fateOf: () => Fate,
  onArrival: (arrival: Arrival) => void,
): Promise<Relay> {
  const target = new URL(baseUrl);
  let arrivals: Arrival[] = [];
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      requests += 1;
      const body = Buffer.concat(chunks);
      const changes = incoming.method !== 'GET';
      const fate = changes ? fateOf() : 'through';
      const { method = '', url = '' } = incoming;
      const id = /^\/v1\/(?:tryout-applications|players|teams)\/([^/?]+)/.exec(url)?.[1] ?? '';
      const arrival = { method, id, applied: fate !== 'dropped' };
      const arrivedAt = performance.now();
      if (changes) onArrival(arrival);
      if (changes) arrivals.push(arrival);
      if (fate !== 'through') incoming.socket.destroy();
      if (fate === 'dropped') return;
      const forward = () => {
        // A busy machine may have delayed it.
        if (fate !== 'through' && performance.now() - arrivedAt > latestMs) {
          arrival.applied = false;
          return;
        }
        const onward = send(
          {
            host: target.hostname,
            port: target.port,
            method: incoming.method,
            path: incoming.url,
            headers: { ...incoming.headers, host: target.host },
          },
          (answer) => {
            if (outgoing.destroyed || fate !== 'through') {
              answer.resume();
              return;
            }
            outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
            answer.pipe(outgoing);
          },
        );
        onward.on('error', () => outgoing.destroy());
        onward.end(body);
      };
      setTimeout(forward, fate === 'late' ? lateMs : latencyMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get arrivals() {
      return arrivals;
    },
    get requests() {
      return requests;
    },
    clear() {
      arrivals = [];
      requests = 0;
    },
    close,
  };
}
