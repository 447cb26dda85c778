/** Error answers: of the API as JSON, of the file store as XML. */
import { personality } from './personality.js';

/** An error answer of the API: status, the machine-readable `error` and a sentence (contract section 7). */
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

/** 404; the code is the sandbox's own (contract section 7). */
export const noSuchRecord = (id: string) =>
  new Refusal(404, personality.codes.notFound, `there is no such record: ${id}`);

/** An error answer of the file store, in the XML of object stores. */
export class StoreRefusal extends Refusal {
  toXml(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${this.code}</Code><Message>${escapeXml(this.message)}</Message></Error>`;
  }
}

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
