/** Rows of the result table: figures beside those of a peer, and bounds on memory. */

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Returns the row of a command beside its peer; `figure` of what was measured: `ms` or `cpu`. */
export function ratioRow(name, pairs, other, figure, goal) {
  const [ours, theirs] = [0, 1].map((side) => median(pairs.map((pair) => pair[side][figure])));
  const ratio = median(pairs.map(([first, second]) => first[figure] / second[figure]));
  const verdict = ratio <= goal ? 'met' : 'MISSED';
  const times = [`${ours.toFixed(0)} ms`, other, `${theirs.toFixed(0)} ms`, ratio.toFixed(2)];
  return [name, ...times, `<= ${goal.toFixed(2)}`, verdict];
}

/** Returns the row of a peak of memory. */
export function boundRow(name, mebibytes, goal) {
  const verdict = mebibytes <= goal ? 'met' : 'MISSED';
  return [name, `${mebibytes.toFixed(0)} MiB`, '-', '-', '-', `<= ${goal} MiB`, verdict];
}
