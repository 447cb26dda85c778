/** A proxy that could not be used; the service itself was not reached, and nothing was sent to it. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /** What the proxy answered, where it answered. */
  readonly status: number | undefined;
  constructor(
    readonly proxy: string,
    { problem, status, cause }: { problem: string; status?: number; cause?: unknown },
  ) {
    super(`The proxy ${proxy} ${problem}.`, { cause });
    this.status = status;
  }

  /** Whether another try may end otherwise: a refusal of the proxy's own stands. */
  get lasts(): boolean {
    return this.status !== undefined && this.status < 500;
  }

  get hint(): string {
    return this.status === 407
      ? 'It wants a user: set HTTPS_PROXY to http://USER:PASSWORD@HOST:PORT.'
      : 'Check HTTPS_PROXY, or name the host of the service in NO_PROXY.';
  }
}
