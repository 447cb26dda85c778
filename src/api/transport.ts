/** One request below the base URL; `path` begins with `/` and is already percent-encoded. */
export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  /** The path's template (`/tryout-applications/{applicationId}`), for errors and the trace. */
  readonly template: string;
  readonly body?: string | Uint8Array | undefined;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}
