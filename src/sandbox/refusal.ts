/** An error answer of the sandbox: status, the machine-readable `error` and a sentence (contract section 7). */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** 400 (contract section 7). */
export const invalid = (message: string) => new Refusal(400, 'invalidRequest', message);

/** 403 of a valid key: missing permission or another organization (contract sections 4.6 and 5.4). */
export const forbidden = (message: string) => new Refusal(403, 'forbidden', message);
