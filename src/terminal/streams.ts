/** One of our two output streams. Nothing else writes to the process's streams. */
export interface OutputStream {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 where it is none and COLUMNS is not set. */
  readonly columns: number;
  readonly rows: number;
  /** Whether colour is wanted on this stream (NO_COLOR and friends, judged per stream). */
  readonly color: boolean;
  /**
   * Writes and waits until the text is handed over. Throws PipeClosedError when the reader is gone,
   * OutputError when it cannot be written (full disk).
   */
  write(text: string | Uint8Array): Promise<void>;
}

/** The world's three streams. stderr ignores a closed reader and passes everything through the redactor. */
export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: {
    readonly isTerminal: boolean;
    /** Everything on stdin, at most `limit` bytes (InputError beyond); only when a command was told to read it. */
    readAll(limit?: number): Promise<Buffer>;
    /** The raw stream, for spooling. */
    readonly stream: NodeJS.ReadableStream;
  };
}
