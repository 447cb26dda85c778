/** The id arguments of the `tryouts` commands with a status flag. */
import { TryoutStatus } from '../../api/schemas.js';
import { anyIdsArg, recordWord } from '../../resources/params.js';

/** Creates the argument for ids, which rejects a status and suggests what `flagFor` makes of it. */
export function idsBeside(flagFor = (status: string) => `Did you mean: --status ${status}`) {
  const id = recordWord('tryouts').check(({ value, issues }) => {
    const { data: status } = TryoutStatus.safeParse(value.replace(/^status=/, ''));
    if (status === undefined) return;
    const message = `"${value}" is a status, not an id.\n${flagFor(status)}`;
    issues.push({ code: 'custom', message, input: value });
  });
  return anyIdsArg('tryouts', id);
}
