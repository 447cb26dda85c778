/** A counter or spinner on stderr, only where a person looks on; otherwise a plain line every 10 s. */
export interface Progress {
  /** Starts one; `text` is made safe. Only one at a time. */
  start(text: string): ProgressLine;
}

export interface ProgressLine {
  update(text: string): void;
  /** Removes the line. */
  stop(): void;
}
