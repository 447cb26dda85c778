/** Collects the lines of an input that cannot be used, so that all of them are reported at once. */
import { plural } from './words.js';
import { InputError } from '../errors.js';

/** More lines than this are only counted. */
const mostListed = 20;

/** What is wrong with an input, line by line; each error says in its message which line it is. */
export class InputErrors {
  private readonly listed: InputError[] = [];
  private count = 0;

  add(error: InputError): void {
    this.count += 1;
    if (this.listed.length < mostListed) this.listed.push(error);
  }

  /** Runs `work` and keeps an InputError that it throws; any other error passes. */
  collect(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.add(error);
    }
  }

  /**
   * Throws one InputError for all that were added: the only one as it is, else one whose message has
   * the reasons of the first 20, each on a line of its own, and how many more there are.
   */
  throwIfAny(): void {
    const [only] = this.listed;
    if (!only) return;
    if (this.count === 1) throw only;
    const reasons = this.listed.map(({ message }) => message.replace(/\s*[\r\n]\s*/g, ' '));
    const more = this.count - this.listed.length;
    const hints = new Set(this.listed.flatMap(({ hint }) => hint ?? []));
    throw new InputError(
      [
        `${this.count} lines cannot be used.`,
        ...reasons,
        ...(more > 0 ? [`And ${plural(more, 'more line')}.`] : []),
      ].join('\n'),
      { hint: hints.size > 0 ? [...hints].slice(0, 3).join('\n') : undefined, cause: only },
    );
  }
}
