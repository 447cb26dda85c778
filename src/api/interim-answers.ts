/** Interim answers: skips each `100 Continue` that nobody asked for, which undici takes for a broken connection. */
import type { Socket } from 'node:net';

const interim = /^(?:HTTP\/1\.[01] 100\b[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)+/;
const beginning = 'HTTP/1.1 100';
const longest = 16 * 1024;

/**
 * Skips every `100 Continue` before the answer to the request that was just written to a socket (RFC
 * 9110, 15.2); undici itself skips the other interim answers. From the first other byte on, the socket
 * is read as always.
 */
export function skipContinues(socket: Socket): void {
  const read = socket.read.bind(socket);
  let held: Buffer | undefined;
  socket.read = (size?: number) => {
    const chunk = read(size) as Buffer | null;
    if (chunk === null) return null;
    const all = held ? Buffer.concat([held, chunk]) : chunk;
    const rest = all.subarray(lengthOfContinues(all));
    if (rest.length === 0 || mayContinue(rest)) {
      held = rest;
      return null;
    }
    // The method of its class is back.
    Reflect.deleteProperty(socket, 'read');
    return rest;
  };
}

function lengthOfContinues(bytes: Buffer): number {
  if (!startsWith(bytes, beginning)) return 0;
  return interim.exec(bytes.toString('latin1', 0, longest))?.[0].length ?? 0;
}

/** True if more bytes may make a `100 Continue` of these. */
function mayContinue(bytes: Buffer): boolean {
  if (bytes.length >= longest) return false;
  return startsWith(bytes, beginning.slice(0, bytes.length));
}

function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.toString('latin1', 0, text.length) === text;
}
