/** Keys: what the bytes that a terminal sends in raw mode mean, read by read. */
import { StringDecoder } from 'node:string_decoder';

/**
 * A key: the character that it types, or its name, which is longer than one character (`up`, `enter`,
 * `interrupt`). `paste` stands for the start and the end of a bracketed paste; pasted text is not read as keys.
 */
export type Key = string;

/** Returns true if the key types a character. */
export function isCharacter(key: Key): boolean {
  return key.length <= 2 && Array.from(key).length === 1;
}

/** How long a reader of keys waits for the rest of a sequence before ESC counts as the key Escape. */
export const escapeWaitMs = 100;

/** A letter this soon after an ESC is Alt and that letter, sent in pieces. */
const altMs = 1_000;

/** The reader's position in a sequence. `escaped`: ESC has counted as a key, but its sequence may still come. */
type SequenceState =
  | 'ground'
  | 'escape'
  | 'escaped'
  | 'csi'
  | 'ss3'
  | 'string'
  | 'stringEscape'
  | 'paste'
  | { readonly skip: number };

const controls: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'interrupt',
  '\u0004': 'interrupt',
  '\u001a': 'suspend',
  '\u000c': 'redraw',
  '\u0015': 'erase',
};

/** Keys by the end of their sequence: `ESC [ A`, `ESC O A`. */
const finals: Readonly<Record<string, Key>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
};

/** Keys by the number before `~`. */
const numbered: Readonly<Record<string, Key>> = {
  '1': 'home',
  '4': 'end',
  '5': 'pageUp',
  '6': 'pageDown',
  '7': 'home',
  '8': 'end',
};

const pasteStart = '200';
const pasteEnd = '\u001b[201~';
/** More of a pasted text is dropped. */
const maxPasted = 10_000;
/** A longer one is not a sequence of a key. */
const maxParameters = 64;

/** Turns reads into keys. An escape sequence is never read as letters, however many reads it takes. */
export class KeyReader {
  private readonly decoder = new StringDecoder('utf8');
  private state: SequenceState = 'ground';
  private parameters = '';
  private tail = '';
  private escapedAt = 0;
  private readAt = 0;
  /** The text of the paste that has begun, and of those that ended since `takePasted`. */
  private pasting = '';
  private pasted = '';

  /** Returns the keys that a read completes; `at`: when it arrived, in milliseconds. */
  push(bytes: Uint8Array, at: number): readonly Key[] {
    const text = this.decoder.write(Buffer.from(bytes));
    // Ctrl-C on its own works even where a sequence or a paste never ends.
    if (text === '\u0003') this.state = 'ground';
    const isLate = this.isInString && at - this.readAt >= altMs;
    const keys = Array.from(text).flatMap((char) => this.next(char, at));
    if (this.state === 'escape') this.escapedAt = at;
    // Nothing ends the string that Alt-] seems to begin.
    if (isLate && this.isInString) this.state = 'ground';
    this.readAt = at;
    return keys;
  }

  private get isInString(): boolean {
    return this.state === 'string' || this.state === 'stringEscape';
  }

  /** True if the last read ended after an ESC: the start of a sequence, or the key Escape. */
  get mayBeEscape(): boolean {
    return this.state === 'escape';
  }

  /** Ends the wait for the rest of a sequence; returns the key Escape. */
  endWait(): readonly Key[] {
    if (this.state !== 'escape') return [];
    this.state = 'escaped';
    return ['escape'];
  }

  /** Returns what was pasted since the last call, up to the end of the last paste. */
  takePasted(): string {
    const { pasted } = this;
    this.pasted = '';
    return pasted;
  }

  private next(char: string, at: number): readonly Key[] {
    const { state } = this;
    if (typeof state === 'object') {
      this.state = state.skip > 1 ? { skip: state.skip - 1 } : 'ground';
      return [];
    }
    switch (state) {
      case 'ground':
        return this.ground(char);
      case 'escape':
        this.state = this.afterEscape(char);
        return [];
      case 'escaped': {
        const after = this.afterEscape(char);
        this.state = after === 'string' ? 'ground' : after;
        return this.state === 'ground' && at - this.escapedAt >= altMs ? this.ground(char) : [];
      }
      case 'csi':
        return this.csi(char);
      case 'ss3':
        this.state = 'ground';
        return known(char === 'M' ? 'enter' : finals[char]);
      case 'string':
        if (char === '\u001b') this.state = 'stringEscape';
        else if (char === '\u0007' || char === '\u009c') this.state = 'ground';
        return [];
      case 'stringEscape':
        this.state = char === '\\' ? 'ground' : 'string';
        return [];
      case 'paste':
        this.tail = (this.tail + char).slice(-pasteEnd.length);
        if (this.pasting.length < maxPasted) this.pasting += char;
        if (this.tail !== pasteEnd) return [];
        this.state = 'ground';
        this.pasted += this.pasting.replace(pasteEnd, '');
        return ['paste'];
      default:
        return state;
    }
  }

  private ground(char: string): readonly Key[] {
    const code = char.codePointAt(0) ?? 0;
    if (char === '\u001b') this.state = 'escape';
    else if (char === '\u009b') this.state = this.afterEscape('[');
    else if (char === '\u008f') this.state = 'ss3';
    else if ('\u0090\u0098\u009d\u009e\u009f'.includes(char)) this.state = 'string';
    else if (Object.hasOwn(controls, char)) return [controls[char] ?? ''];
    else if (code >= 0x20 && !(code >= 0x7f && code < 0xa0) && char !== '\ufffd') return [char];
    return [];
  }

  private afterEscape(char: string): SequenceState {
    if (char === '[') {
      this.parameters = '';
      return 'csi';
    }
    if (char === 'O') return 'ss3';
    if (char === '\u001b') return 'escape';
    // Answers of the terminal itself: device control, colours, titles.
    return 'P]^_X'.includes(char) ? 'string' : 'ground';
  }

  private csi(char: string): readonly Key[] {
    const { parameters } = this;
    const isFinal = char >= '@' && char <= '~';
    if (!isFinal) {
      if (parameters.length < maxParameters) this.parameters += char;
      return [];
    }
    this.state = 'ground';
    // A mouse report of three bytes, and the function keys of the Linux console.
    if (parameters === '' && char === 'M') this.state = { skip: 3 };
    else if (parameters === '' && char === '[') this.state = { skip: 1 };
    else if (char === '~' && parameters === pasteStart) {
      this.state = 'paste';
      this.tail = '';
      this.pasting = '';
      return ['paste'];
    } else if (char === '~') return known(numbered[parameters]);
    else if (parameters === '' || parameters === '1') return known(finals[char]);
    return [];
  }
}

function known(key: Key | undefined): readonly Key[] {
  return key === undefined ? [] : [key];
}
