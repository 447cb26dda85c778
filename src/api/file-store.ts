/** The store behind signed URLs: another origin, never the key, never a redirect on PUT (contract 4.5). */
export interface FileStore {
  /** PUTs exactly `sizeBytes` bytes. Throws StoreError, NetworkError, InputError (file changed). */
  put(
    url: string,
    file: UploadSource,
  ): Promise<{ readonly status: number; readonly bytes: number }>;
  /** Opens a signed URL for reading. */
  get(url: string): Promise<Download>;
}

/** The bytes to send; `open` may be called again for a retry. */
export interface UploadSource {
  readonly contentType: string;
  readonly sizeBytes: number;
  open(): AsyncIterable<Uint8Array>;
  /** Told the number of bytes handed over so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

export interface Download {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly bytes: AsyncIterable<Uint8Array>;
}
