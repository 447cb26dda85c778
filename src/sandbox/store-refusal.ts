/** An error answer of the file store, in the XML that object stores speak. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  toXml(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${this.code}</Code><Message>${escapeXml(this.message)}</Message></Error>`;
  }
}

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
