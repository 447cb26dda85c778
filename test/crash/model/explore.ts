/** Explores every path that a series of choices can take. */

/** Returns the index of one of `count` possibilities. */
export type Choose = (count: number) => number;

/** Runs a path once for every possible series of choices; returns how many there were. */
export async function explore(path: (choose: Choose) => Promise<void>): Promise<number> {
  const choices: { made: number; of: number }[] = [];
  for (let paths = 1; ; paths++) {
    let at = 0;
    await path((of) => {
      if (of < 2) return 0;
      if (at === choices.length) choices.push({ made: 0, of });
      return choices[at++]?.made ?? 0;
    });
    while (choices.length > 0 && isSpent(choices.at(-1))) choices.pop();
    const last = choices.at(-1);
    if (!last) return paths;
    last.made += 1;
  }
}

function isSpent(choice: { made: number; of: number } | undefined): boolean {
  return choice !== undefined && choice.made + 1 === choice.of;
}
