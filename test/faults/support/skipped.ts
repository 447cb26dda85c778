/** Cases of the catalogue that belong to what is not built, and why. Nothing else may be missing. */
export const skipped: Readonly<Record<string, string>> = {
  F013: 'a bulk run with a circuit is not built yet',
  F121: 'the journal of a bulk run is not built yet',
  F123: 'the journal of a bulk run is not built yet',
  F124: 'the lock of a bulk run is not built yet',
  F127: 'the journal of a bulk run is not built yet',
  F106: 'an upload that is resumed (uploads finish) is not built yet',
  F125: 'needs libfaketime and the clock of a bulk run',
};
