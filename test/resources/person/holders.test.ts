import { expect, test } from 'vitest';
import { application, keep, steps } from '../../commands/tryouts/service.js';
import { inProcess } from '../../support/in-process.js';
import { temporaryFolder } from '../../support/run.js';

const people = [
  application('app_1', { name: 'Nilo', email: 'nilo@example.org', status: 'rejected' }),
  application('app_2', { name: 'Nilo', email: 'NILO@example.org', formId: 'f1' }),
  application('app_3', { name: 'Ann', email: 'ann@example.org', formId: 'f1' }),
  application('app_4', { name: 'Ann', email: 'ann@example.org', formId: 'f2' }),
];
const both = 'the application app_1 (Nilo, rejected) have the same e-mail';
const warning = `Nilo (app_2) and ${both}, so the service may refuse the change.`;

const run = ({ env }: { env: Record<string, string> }, line: string) =>
  inProcess(line, { env, home: temporaryFolder() });

const refused = { status: 409, json: { error: 'conflict' } };

test('a refusal names the application that holds the same e-mail', async () => {
  const service = await keep(people, (_, step) => (step === 'PATCH app_2' ? refused : undefined));
  const ran = await run(service, 'tryouts update app_2 --status accepted --json');
  expect(ran.code).toBe(6);
  expect(ran.stderr).toContain('The application app_1 (Nilo, rejected) has the same e-mail.');
  expect(steps(service)).toEqual(['GET app_2', 'PATCH app_2', 'LIST']);
});

test('a refused conversion names it too, also where --accept is refused', async () => {
  for (const [step, line] of [
    ['CONVERT app_2', 'tryouts convert app_2 --yes --json'],
    ['PATCH app_2', 'tryouts convert app_2 --accept --yes --json'],
  ] as const) {
    const service = await keep(people, (_, each) => (each === step ? refused : undefined));
    const ran = await run(service, line);
    expect(ran.code).toBe(6);
    expect(ran.stderr).toContain('The application app_1 (Nilo, rejected) has the same e-mail.');
  }
});

test('a script hears of the other holder before it converts one application', async () => {
  const service = await keep(people);
  const ran = await run(service, 'tryouts convert app_2 --accept --yes');
  expect(ran.stderr).toContain(warning);
  const sent = steps(service);
  expect(sent.indexOf('LIST')).toBeLessThan(sent.indexOf('PATCH app_2'));
  expect(sent.at(-1)).not.toBe('LIST');
});

test('one that is not refused costs no request more', async () => {
  const service = await keep(people);
  await run(service, 'tryouts update app_2 --status accepted');
  expect(steps(service)).toEqual(['GET app_2', 'PATCH app_2']);
});

test('a change of filtered applications says it before the first write, but not across forms', async () => {
  const service = await keep(people);
  const ran = await run(service, 'tryouts set-status --status pending --to accepted --yes');
  expect(ran.stderr).toContain(warning);
  expect(ran.stderr).not.toContain('Ann (app_3)');
  const order = steps(service);
  expect(order.lastIndexOf('LIST')).toBeLessThan(
    order.findIndex((step) => step.startsWith('PATCH')),
  );
});

test.each([
  ['one application', 'app_2'],
  ['two applications', 'app_2 app_3'],
])(
  'a script that sets the status of %s hears of the other holder before the first write',
  async (_, ids) => {
    const service = await keep(people);
    const ran = await run(service, `tryouts set-status ${ids} --to accepted --yes`);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain(warning);
    const order = steps(service);
    expect(order.indexOf('LIST')).toBeLessThan(order.findIndex((step) => step.startsWith('PATCH')));
    expect(order.filter((step) => step === 'LIST')).toHaveLength(1);
  },
);

test('a list that is read for many ids is not read again for it', async () => {
  const many = Array.from({ length: 30 }, (_, at) => application(`app_${at + 10}`));
  const service = await keep([...people, ...many]);
  const ids = [...many.map(({ id }) => id), 'app_2'].join(' ');
  const ran = await run(service, `tryouts set-status ${ids} --to accepted --yes`);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(warning);
  expect(steps(service).filter((step) => step === 'LIST')).toHaveLength(1);
});
