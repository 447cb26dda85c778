import { expect, test } from 'vitest';
import { rosterctl, startLine } from '../../support/run.js';
import { desk } from '../../support/upload-desk.js';

/** The requests of a whole replacement, to the service and to the store. */
const all = 12;

test.concurrent.each(Array.from({ length: all }, (_, index) => index + 1))(
  'killed at its request %i, the same command finishes a replacement, and nothing is done twice',
  async (nth) => {
    const { home, api, store, documents, upload } = await desk({
      'old.txt': 'the old rules',
      'new.txt': 'the new ones',
    });
    await upload("old.txt --name 'House rules'");
    const count = () => api.requests.length + store.requests.length;
    const before = count();
    const line = 'docs replace doc_1 new.txt --yes --json';
    const at = { env: { ...api.env, ROSTERCTL_SETTLE: '0.1s' }, home, cwd: home };
    const child = startLine(line, at);
    while (count() < before + nth && !child.isOver())
      await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill('SIGKILL');
    await child.ended;
    const ran = await rosterctl(line, at);
    // 5: it was over, its report printed, and the old document is gone.
    expect([0, 5]).toContain(ran.code);
    expect(documents).toMatchObject([{ name: 'House rules', sizeBytes: 12 }]);
    const made = api.requests.filter(
      ({ method, url }) => method === 'POST' && url === '/v1/documents',
    );
    expect(made).toHaveLength(2);
  },
);
