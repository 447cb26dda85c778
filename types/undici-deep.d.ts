// undici has no `exports` map; only the three modules that we need are loaded, not its index.
// These declarations hold what we use of the exact version pinned in package.json.

declare module 'undici/lib/dispatcher/agent.js' {
  import type { Readable } from 'node:stream';
  import type { Agent } from 'undici';

  export interface RawDispatch {
    origin: string;
    path: string;
    method: string;
    headers: string[];
    body?: Uint8Array | string | AsyncIterable<Uint8Array> | Readable | null;
  }

  /** undici's own handler form: no wrapper, no stream between the parser and us. */
  export interface RawHandler {
    onConnect(abort: (reason?: Error) => void): void;
    /** The request is handed to the socket whole. */
    onRequestSent?(): void;
    onHeaders(status: number, headers: Buffer[], resume: () => void): boolean;
    onData(chunk: Buffer): boolean;
    onComplete(): void;
    onError(error: Error): void;
  }

  export default class RawAgent {
    constructor(options?: Agent.Options);
    dispatch(options: RawDispatch, handler: RawHandler): boolean;
    destroy(): Promise<void>;
  }
}

declare module 'undici/lib/core/connect.js' {
  import type { LookupFunction, Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  export interface ConnectOptions {
    /** Milliseconds until a connection must stand, name resolution and TLS included. */
    timeout: number;
    rejectUnauthorized: boolean;
    lookup?: LookupFunction;
  }

  export default function connectorFor(
    options: ConnectOptions,
  ): (options: buildConnector.Options, done: buildConnector.Callback) => Socket;
}
