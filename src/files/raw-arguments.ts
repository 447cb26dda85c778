// The bytes of the command line as the system keeps them: Node replaces what is not UTF-8 by U+FFFD.
import { readFileSync } from 'node:fs';

/**
 * The arguments whose bytes are not UTF-8, as Node shows them. None where the system does not say
 * (only Linux does): there a U+FFFD may have been typed.
 */
export function argumentsNotUtf8(argv: readonly string[]): readonly string[] {
  const words = wordsOf(readCommandLine());
  const offset = words.length - argv.length;
  return offset < 0 ? [] : argv.filter((_, index) => !isUtf8(words[offset + index]));
}

function readCommandLine(): Buffer {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return Buffer.alloc(0);
  }
}

/** Each word ends with a NUL. */
function wordsOf(bytes: Buffer): readonly Buffer[] {
  const words: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
    words.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return words;
}

function isUtf8(bytes: Buffer | undefined): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
