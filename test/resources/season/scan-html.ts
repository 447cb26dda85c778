/** A strict scanner of the HTML that we write: what it does not know is an error. */

interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

export interface Scanned {
  readonly elements: readonly Element[];
  /** The text of each kind of element, decoded, without the texts of elements inside it. */
  readonly texts: readonly { readonly inside: string; readonly text: string }[];
}

const token = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z-]+="[^"<>]*")*)(\/?)>|([^<>]+)/gy;
const empty = ['meta', 'rect'];

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Throws for a character that should be escaped, an unknown entity or an element that is not closed. */
export function scanHtml(html: string): Scanned {
  const elements: Element[] = [];
  const texts: { inside: string; text: string }[] = [];
  const open: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < html.length) {
    const at = token.lastIndex;
    const found = token.exec(html);
    if (!found) throw new Error(`not HTML of ours: ${html.slice(at, at + 80)}`);
    const [, closes, name, attributes = '', closed, text] = found;
    if (text !== undefined) texts.push({ inside: open.at(-1) ?? '', text: decode(text) });
    else if (name !== undefined && closes) {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
    } else if (name !== undefined) {
      elements.push({ name, attributes: parseAttributes(attributes) });
      if (closed ? !empty.includes(name) : name === 'rect')
        throw new Error(`<${name}> is not closed`);
      if (!closed && !empty.includes(name)) open.push(name);
    }
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(', ')}`);
  return { elements, texts };
}

function parseAttributes(text: string): ReadonlyMap<string, string> {
  const pairs = [...text.matchAll(/ ([a-zA-Z-]+)="([^"]*)"/g)];
  const attributes = new Map(pairs.map(([, name = '', value = '']) => [name, value]));
  if (attributes.size !== pairs.length) throw new Error(`an attribute twice: ${text}`);
  return attributes;
}

function decode(text: string): string {
  return text.replace(/&[^;]*;?/g, (entity) => {
    const decoded = entities[entity];
    if (decoded === undefined) throw new Error(`not an entity of ours: ${entity.slice(0, 20)}`);
    return decoded;
  });
}
