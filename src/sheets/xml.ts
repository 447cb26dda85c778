/** A small, strict XML scanner for the parts of a workbook; refuses whatever could reach outside of them. */

/** Receives what the scanner finds; names are without their namespace prefix. */
export interface XmlHandler {
  /** `attributes`: the raw text between the name and the end of the tag. */
  open(name: string, attributes: string): void;
  /** Called for each piece of text, with entities replaced. */
  text?(text: string): void;
  close?(name: string): void;
}

/** A fault of a part of a workbook, as the end of a sentence. */
export class XmlError extends Error {}

/** No part of a workbook nests deeper. */
const deepest = 64;
/** In characters: far beyond the longest text of a cell, with each of its characters escaped. */
const longestToken = 1024 * 1024;

/** Returns the value of an attribute, whatever its namespace prefix; undefined if there is none. */
export function attributeOf(attributes: string, name: string): string | undefined {
  attributePattern.lastIndex = 0;
  for (
    let found = attributePattern.exec(attributes);
    found;
    found = attributePattern.exec(attributes)
  )
    if (localName(found[1] ?? '') === name) return decoded(found[2] ?? found[3] ?? '');
  return undefined;
}

// A name is tried at its first character only; from each of them, a long one would take minutes.
const attributePattern = /(?<![^\s"'])([^\s="']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Scans XML as it arrives. Throws XmlError for a document type, an entity other than the five of XML,
 * elements nested deeper than 64, and tags that do not match.
 */
export class XmlScanner {
  private rest = '';
  /** The index in `rest` from which to look for the end of a token. */
  private from = 0;
  private readonly stack: string[] = [];
  private hasRoot = false;

  constructor(private readonly handler: XmlHandler) {}

  push(text: string): void {
    this.rest += text;
    let at = 0;
    for (let end = this.step(at); end > at; end = this.step(at)) {
      at = end;
      this.from = at;
    }
    this.rest = this.rest.slice(at);
    this.from = Math.max(0, this.from - at);
    if (this.rest.length > longestToken) throw new XmlError('a text in it is longer than 1 MiB');
  }

  /** Throws XmlError if the document is incomplete. */
  end(): void {
    if (this.stack.length > 0 || !this.hasRoot || this.rest.trim() !== '')
      throw new XmlError('it ends too early');
  }

  /** Handles the token at `at` and returns its end; `at` if it is incomplete. */
  private step(at: number): number {
    const { rest } = this;
    if (at >= rest.length) return at;
    if (rest[at] !== '<') {
      const end = this.find('<', at);
      if (end < 0) return at;
      this.emitText(rest.slice(at, end));
      return end;
    }
    if (rest[at + 1] === '!' || rest[at + 1] === '?') return this.special(at);
    const end = this.endOfTag(at);
    if (end < 0) return at;
    this.tag(rest.slice(at + 1, end));
    return end + 1;
  }

  /** Looks for the end of a token, from where the last look ended. */
  private find(what: string, at: number): number {
    const found = this.rest.indexOf(what, Math.max(at, this.from));
    if (found < 0) this.from = Math.max(at, this.rest.length - what.length + 1);
    return found;
  }

  private emitText(raw: string): void {
    if (this.stack.length > 0) this.handler.text?.(decoded(raw.replace(/\r\n?/g, '\n')));
    else if (raw.trim() !== '') throw new XmlError('it holds text outside of its root');
  }

  private special(at: number): number {
    const { rest } = this;
    const [open, close] =
      rest[at + 1] === '?'
        ? ['<?', '?>']
        : rest.startsWith('<!--', at)
          ? ['<!--', '-->']
          : ['<![CDATA[', ']]>'];
    const start = rest.slice(at, at + open.length);
    if (start !== open) {
      if (open.startsWith(start) || '<!--'.startsWith(start)) return at;
      throw new XmlError('it holds a document type or entities');
    }
    const end = this.find(close, at + open.length);
    if (end < 0) return at;
    if (open === '<![CDATA[' && this.stack.length > 0)
      this.handler.text?.(rest.slice(at + open.length, end));
    return end + close.length;
  }

  /** The end of a tag, which may hold a `>` within quotes. */
  private endOfTag(at: number): number {
    const end = this.rest.indexOf('>', at);
    if (end < 0) return -1;
    const quote = /["']/.exec(this.rest.slice(at, end));
    if (!quote) return end;
    let open: string | undefined;
    for (let index = at + quote.index; index < this.rest.length; index += 1) {
      const sign = this.rest[index];
      if (open !== undefined) open = sign === open ? undefined : open;
      else if (sign === '>') return index;
      else if (sign === '"' || sign === "'") open = sign;
    }
    return -1;
  }

  private tag(tag: string): void {
    if (tag.startsWith('/')) {
      const name = tag.slice(1).trimEnd();
      if (this.stack.pop() !== name) throw new XmlError(`a tag </${name}> closes nothing`);
      this.handler.close?.(localName(name));
      return;
    }
    const isEmpty = tag.endsWith('/');
    const inner = isEmpty ? tag.slice(0, -1) : tag;
    const space = inner.search(/\s/);
    const name = space < 0 ? inner : inner.slice(0, space);
    if (name === '' || (this.stack.length === 0 && this.hasRoot))
      throw new XmlError('its tags do not match');
    this.hasRoot = true;
    if (this.stack.length >= deepest) throw new XmlError('its elements are nested too deeply');
    this.handler.open(localName(name), space < 0 ? '' : inner.slice(space + 1));
    if (isEmpty) this.handler.close?.(localName(name));
    else this.stack.push(name);
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

/** Replaces the five entities of XML and numbered characters. */
function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&([^;&]{0,12});?/g, (all, name: string) => {
    const known = all.endsWith(';') ? (entities[name] ?? numbered(name)) : undefined;
    if (known === undefined) throw new XmlError(`it holds the entity ${all.slice(0, 20)}`);
    return known;
  });
}

function numbered(name: string): string | undefined {
  const [, hex, decimal] = /^#(?:x([\da-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? [];
  const code = hex === undefined ? Number(decimal ?? -1) : Number.parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
