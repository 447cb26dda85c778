/** Keys: what the bytes that a terminal sends in raw mode mean, read by read. */
import { StringDecoder } from 'node:string_decoder';

/**
 * A key: the character that it types, or its name, which is longer than one character (`up`, `enter`,
 * `interrupt`). `paste` stands for the start and the end of a bracketed paste, whose text is dropped.
 */
export type Key = string;

/** Returns true if the key types a character. */
export function isCharacter(key: Key): boolean {
  return key.length <= 2 && Array.from(key).length === 1;
}

/** Turns reads into keys. An escape sequence is never read as letters, however many reads it takes. */
export interface KeyReader {
  /** Returns the keys that a read completes; `at`: when it arrived, in milliseconds. */
  push(bytes: Uint8Array, at: number): readonly Key[];
  /** True if the last read ended after an ESC: the start of a sequence, or the key Escape. */
  readonly mayBeEscape: boolean;
  /** Ends the wait for the rest of a sequence; returns the key Escape. */
  endWait(): readonly Key[];
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
/** A longer one is not a sequence of a key. */
const maxParameters = 64;

/** Creates a reader at the start of a key. */
export function createKeyReader(): KeyReader {
  const decoder = new StringDecoder('utf8');
  let state: SequenceState = 'ground';
  let parameters = '';
  let tail = '';
  let escapedAt = 0;
  const afterEscape = (char: string): SequenceState => {
    if (char === '[') parameters = '';
    if (char === '[') return 'csi';
    if (char === 'O') return 'ss3';
    if (char === '\u001b') return 'escape';
    // Answers of the terminal itself: device control, colours, titles.
    return 'P]^_X'.includes(char) ? 'string' : 'ground';
  };
  const ground = (char: string): readonly Key[] => {
    const code = char.codePointAt(0) ?? 0;
    if (char === '\u001b') state = 'escape';
    else if (char === '\u009b') state = afterEscape('[');
    else if (char === '\u008f') state = 'ss3';
    else if ('\u0090\u0098\u009d\u009e\u009f'.includes(char)) state = 'string';
    else if (Object.hasOwn(controls, char)) return [controls[char] ?? ''];
    else if (code >= 0x20 && !(code >= 0x7f && code < 0xa0) && char !== '\ufffd') return [char];
    return [];
  };
  const csi = (char: string): readonly Key[] => {
    const isFinal = char >= '@' && char <= '~';
    if (!isFinal) {
      if (parameters.length < maxParameters) parameters += char;
      return [];
    }
    state = 'ground';
    // A mouse report of three bytes, and the function keys of the Linux console.
    if (parameters === '' && char === 'M') state = { skip: 3 };
    else if (parameters === '' && char === '[') state = { skip: 1 };
    else if (char === '~' && parameters === pasteStart) {
      state = 'paste';
      tail = '';
      return ['paste'];
    } else if (char === '~') return known(numbered[parameters]);
    else if (parameters === '' || parameters === '1') return known(finals[char]);
    return [];
  };
  const next = (char: string, at: number): readonly Key[] => {
    if (typeof state === 'object') {
      state = state.skip > 1 ? { skip: state.skip - 1 } : 'ground';
      return [];
    }
    switch (state) {
      case 'ground':
        return ground(char);
      case 'escape':
        state = afterEscape(char);
        return [];
      case 'escaped':
        state = afterEscape(char);
        if (state === 'string') state = 'ground';
        return state === 'ground' && at - escapedAt >= altMs ? ground(char) : [];
      case 'csi':
        return csi(char);
      case 'ss3':
        state = 'ground';
        return known(char === 'M' ? 'enter' : finals[char]);
      case 'string':
        if (char === '\u001b') state = 'stringEscape';
        else if (char === '\u0007' || char === '\u009c') state = 'ground';
        return [];
      case 'stringEscape':
        state = char === '\\' ? 'ground' : 'string';
        return [];
      case 'paste':
        tail = (tail + char).slice(-pasteEnd.length);
        if (tail !== pasteEnd) return [];
        state = 'ground';
        return ['paste'];
      default:
        return state;
    }
  };
  return {
    push(bytes, at) {
      const text = decoder.write(Buffer.from(bytes));
      // Ctrl-C on its own works even where a sequence or a paste never ends.
      if (text === '\u0003') state = 'ground';
      const keys = Array.from(text).flatMap((char) => next(char, at));
      if (state === 'escape') escapedAt = at;
      return keys;
    },
    get mayBeEscape() {
      return state === 'escape';
    },
    endWait() {
      if (state !== 'escape') return [];
      state = 'escaped';
      return ['escape'];
    },
  };
}

function known(key: Key | undefined): readonly Key[] {
  return key === undefined ? [] : [key];
}
