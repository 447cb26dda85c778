import { InputError } from '../errors.js';
import { namedFirst, plural } from '../data/words.js';

/** The lines of an input that cannot be used: all are found before the first one is told. */
export class WrongLines {
  private first: InputError | undefined;
  private count = 0;
  private readonly next: number[] = [];

  /** Does what may throw an InputError about this line, which then waits for `tell`. */
  within(line: number, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.count += 1;
      if (!this.first) this.first = error;
      else if (this.next.length < namedFirst) this.next.push(line);
    }
  }

  /** Throws the first problem, with the other lines that have one. */
  tell(): void {
    if (!this.first) return;
    const { message, hint, cause } = this.first;
    throw new InputError(`${message}${this.others()}`, { hint, cause });
  }

  private others(): string {
    const more = this.count - 1;
    if (more === 0) return '';
    const lines = `${this.next.join(', ')}${more > this.next.length ? ' and so on' : ''}`;
    return ` ${plural(more, 'more line is', 'more lines are')} wrong: ${lines}.`;
  }
}
