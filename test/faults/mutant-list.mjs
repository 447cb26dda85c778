// Defences, each with the change that takes it out and the cases that guard it.

/** As many kills as it takes: each row of a run may meet a lost or a late answer. */
const killLoop = ['crash/kill', 'kills lose no row'];

const onDiskFirst = ['system-calls', 'on disk before it is sent'];

const keyToStore = {
  file: 'src/api/store/file-store.ts',
  from: '...storeHeaders(headers),',
  to: `...storeHeaders(headers),
          'x-api-key': process.env['ROSTERCTL_API_KEY'] ?? '',`,
};

export const mutants = [
  {
    name: 'a redirect is followed',
    file: 'src/api/transport.ts',
    from: 'exchange(agent, wire, this.limits, limiter.isDraining ? neverAborts : signal, instant);',
    to: `(async () => {
        let result = await exchange(agent, wire, this.limits, signal, instant);
        while ('reply' in result && result.reply.headers['location'] !== undefined) {
          const next = new URL(result.reply.headers['location'], wire.origin);
          const on = { ...wire, origin: next.origin, path: next.pathname + next.search };
          result = await exchange(agent, on, this.limits, signal, instant);
          if (next.pathname === '/v1/taken') break;
        }
        return result;
      })();`,
    cases: ['redirects', 'matrix: 307'],
  },
  { name: 'the key is sent to the store', ...keyToStore, cases: ['upload', 'F098'] },
  { name: 'the key is sent to the S3 store', ...keyToStore, cases: ['s3-store', 'F098'] },
  {
    name: 'the key is sent with a download',
    file: 'src/api/store/download.ts',
    from: 'headers: part ? rangeHeaders(part) : [],',
    to: `headers: [
        ...(part ? rangeHeaders(part) : []),
        'x-api-key', process.env['ROSTERCTL_API_KEY'] ?? '',
      ],`,
    cases: ['s3-store', 'download'],
  },
  {
    name: 'hostile text is shown as it is',
    file: 'src/terminal/safe-text.ts',
    from: '  return isPlainText(text) ? text : sanitize(text, cellMarks);',
    to: '  return text;',
    cases: ['hostile-texts', 'texts 1 to 9 in'],
  },
  {
    name: 'a lost write is sent again unread',
    file: 'src/engine/run-row.ts',
    from: 'if (!(error instanceof UnknownOutcomeError)) throw error;',
    to: `if (!(error instanceof UnknownOutcomeError)) throw error;
    if (row.sends < 3) {
      row.sends += 1;
      return state;
    }`,
    cases: killLoop,
  },
  {
    name: 'an intent is not waited for',
    file: 'src/engine/run-row.ts',
    from: `  const written = await Promise.allSettled([
    journal.append({ kind: 'intent',`,
    to: `  const written: PromiseSettledResult<unknown>[] = [];
  void Promise.all([
    journal.append({ kind: 'intent',`,
    cases: killLoop,
  },
  {
    name: 'an intent is not synced',
    file: 'src/files/synced-lines.ts',
    from: 'fdatasync(descriptor, (error) => (error ? fail(error) : done()));',
    to: 'done();',
    cases: onDiskFirst,
  },
  {
    name: 'a before-image is not waited for',
    file: 'src/engine/run-row.ts',
    from: 'image && images?.append(',
    to: 'image && void images?.append(',
    cases: onDiskFirst,
  },
  {
    name: 'a lost write is not waited for',
    file: 'src/engine/run-rows.ts',
    from: 'await pauseUntil(run, rows, ({ settleMs }) => settleMs);',
    to: '',
    cases: ['aged-reads', 'F134'],
  },
  {
    name: 'a read never ages',
    file: 'src/engine/run.ts',
    from: 'return ageMs(at, this.options.instant()) <= freshMs;',
    to: 'return true;',
    cases: ['aged-reads', 'F132'],
  },
  {
    name: 'guards are not judged again',
    file: 'src/engine/run-row.ts',
    from: '{ guards, previewed, digest, done }',
    to: '{ guards: row.resends > 0 ? {} : guards, previewed, digest, done }',
    cases: ['aged-reads', 'F133'],
  },
];
