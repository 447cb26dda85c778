/** Starts work in order, `most` at once; a promise for each. One that fails stops no other. */
export function atOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): readonly Promise<R>[] {
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = async (item: T): Promise<R> => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work(item);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return items.map(turn);
}
