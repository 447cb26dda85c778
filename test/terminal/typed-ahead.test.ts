import { describe, expect, test } from 'vitest';
import { until } from '../bulk/user.js';
import { application, keep, steps } from '../commands/tryouts/service.js';
import { sitDown } from '../support/full-screen.js';
import { temporaryFolder } from '../support/run.js';

const people = [
  application('app_1', { name: 'Zoë Brångdal' }),
  application('app_2', { name: 'Nimbus Vale' }),
];
const esc = '\u001b';

/** A person who types while the service still takes its time over the first answer. */
async function typesAhead(
  words: readonly string[],
  keys: string,
  env: Readonly<Record<string, string>> = {},
) {
  let isFirst = true;
  const service = await keep(people, (_, step) => {
    const found =
      step === 'LIST' ? [...service.kept.values()] : service.kept.get(step.split(' ')[1] ?? '');
    if (!isFirst) return step === 'LIST' ? { status: 200, json: found } : undefined;
    isFirst = false;
    return (_request, response) => void setTimeout(() => response.end(JSON.stringify(found)), 700);
  });
  const desk = sitDown(words, {
    home: temporaryFolder(),
    env: { ...service.env, NO_COLOR: '1', ...env },
  });
  await until(() => service.requests.length > 0);
  desk.type(keys);
  return { desk, writes: () => steps(service).filter((step) => step.startsWith('PATCH')) };
}

/** Longer than a question waits for what was typed before it. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 300));

describe.each([
  ['drawn', {}],
  ['plain', { TERM: 'dumb' }],
])('a %s list is not answered by what was typed before it was shown:', (_, env) => {
  test('Enter picks nobody', async () => {
    const { desk, writes } = await typesAhead(
      ['tryouts', 'update', '--status', 'rejected'],
      '\r',
      env,
    );
    await desk.sees(/Which application\?/);
    await pause();
    desk.type(esc);
    if ('TERM' in env) desk.type('\r');
    expect(await desk.ended).toMatchObject({ code: 130 });
    expect(writes()).toEqual([]);
  });
});

test('a review decides nothing by keys that were pressed before its first card', async () => {
  const { desk } = await typesAhead(['tryouts', 'review'], 'sr');
  await desk.sees(/^1 of 2/);
  await pause();
  expect(desk.screen()[0]).not.toContain('shortlisted');
  desk.type('r');
  await desk.sees(/1 rejected/);
  desk.type('q');
  expect(await desk.ended).toMatchObject({ code: 0 });
  expect(desk.usual()).toContain('1 decision kept, not sent.');
});
