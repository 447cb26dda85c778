import { plural } from '../data/text.js';
import { ProtocolError } from '../errors.js';

const hint = 'Nothing was kept. Try again; if it stays so, upload the document anew.';

/** The refusal of a file that has another size than `who` says. */
export function wrongSize(size: number, who: string, said: number): ProtocolError {
  return new ProtocolError(`The file has ${plural(size, 'byte')}, but ${who} says ${said}.`, {
    code: 'wrongSize',
    hint,
  });
}

/** The refusal of one that goes on where it should have ended. */
export function tooLong(who: string, said: number): ProtocolError {
  return new ProtocolError(`The file has more than the ${plural(said, 'byte')} that ${who} says.`, {
    code: 'wrongSize',
    hint,
  });
}
