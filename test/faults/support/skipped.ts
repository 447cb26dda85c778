/** Catalogue cases without a test here, and why. No other case may be missing. */
export const skipped: Readonly<Record<string, string>> = {
  F013: 'the circuit of a bulk run is tested in test/bulk',
  F121: 'the order of intent and write is tested in test/bulk, a disk that fails in test/crash',
  F123: 'kill -9 is tested in test/crash',
  F124: 'two starts at once are tested in test/bulk',
  F127: 'damaged and cut journals are tested in test/bulk',
};
