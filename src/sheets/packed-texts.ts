/** Texts kept as bytes: millions of short ones take little more than their characters. */

const pageBytes = 1024 * 1024;

/** A list of texts that only grows. */
export class PackedTexts {
  private readonly pages: Buffer[] = [];
  private used = pageBytes;
  private places = new Uint32Array(1024);
  private count = 0;

  /** Returns false for a text longer than a page, which it does not keep. */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes > pageBytes) return false;
    if (this.used + bytes > pageBytes) {
      this.pages.push(Buffer.allocUnsafe(pageBytes));
      this.used = 0;
    }
    const page = this.pages.length - 1;
    this.pages[page]?.write(text, this.used);
    if (this.count * 2 === this.places.length) {
      const more = new Uint32Array(this.places.length * 2);
      more.set(this.places);
      this.places = more;
    }
    this.places[this.count * 2] = page * pageBytes + this.used;
    this.places[this.count * 2 + 1] = bytes;
    this.used += bytes;
    this.count += 1;
    return true;
  }

  get length(): number {
    return this.count;
  }

  /** Returns a text by its number; undefined if there is none. */
  at(index: number): string | undefined {
    if (index >= this.count) return undefined;
    const place = this.places[index * 2] ?? 0;
    const start = place % pageBytes;
    const end = start + (this.places[index * 2 + 1] ?? 0);
    return this.pages[Math.floor(place / pageBytes)]?.toString('utf8', start, end);
  }
}
