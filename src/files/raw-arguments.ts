/** The raw bytes of the command line, because Node replaces what is not UTF-8 with U+FFFD. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';

/**
 * Returns the arguments whose bytes are not UTF-8, in Node's spelling. None on systems other than
 * Linux, which do not expose the bytes: there a U+FFFD may have been typed.
 */
export function argumentsNotUtf8(argv: readonly string[]): readonly string[] {
  const words = argumentsIn(readCommandLine());
  const offset = words.length - argv.length;
  return offset < 0
    ? []
    : argv.filter((_, index) => !isUtf8(words[offset + index] ?? Buffer.alloc(0)));
}

function readCommandLine(): Buffer {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return Buffer.alloc(0);
  }
}

/** Splits the bytes into words, each of which ends with a NUL. */
function argumentsIn(bytes: Buffer): readonly Buffer[] {
  const words: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
    words.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return words;
}
