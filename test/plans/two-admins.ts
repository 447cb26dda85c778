/** Anna, who writes a plan, and Ben, who has its file. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type JsonObject, printJson } from '../../src/data/json.js';
import { hashOfPlan } from '../../src/runs/plan-file.js';
import { several, userInside } from '../bulk/user.js';
import { type Instead, keep, steps } from '../commands/tryouts/service.js';

export const reject = 'tryouts set-status app_1 app_2 app_3 --to rejected';

/** Anna writes a plan of three rejections on her machine; Ben has the file, and the key, on his. */
export async function planned({
  line = reject,
  instead,
  count = 3,
  user = userInside,
}: {
  line?: string;
  instead?: Instead;
  count?: number;
  /** `userOf`: each line is a process. */
  user?: typeof userInside;
} = {}) {
  const service = await keep(several(count), instead);
  const anna = user(service);
  const made = await anna.run(`${line} --plan p.json`);
  expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 });
  const ben = user(service);
  const file = join(ben.home, 'p.json');
  copyFileSync(join(anna.home, 'p.json'), file);
  return { service, anna, ben, made, file, plan: planIn(file) };
}

export const planIn = (file: string) =>
  JSON.parse(readFileSync(file, 'utf8')) as JsonObject & {
    hash: string;
    rows: JsonObject[];
    job: JsonObject;
  };

export const writes = (service: Parameters<typeof steps>[0]) =>
  steps(service).filter((step) => !/^(GET|LIST)/.test(step));

/** Changes a plan as somebody would who knows how the hash is made. */
export function forge(file: string, change: (plan: ReturnType<typeof planIn>) => object): void {
  const plan = planIn(file);
  const { hash: _, ...members } = { ...plan, ...change(plan) };
  writeFileSync(file, printJson({ ...members, hash: hashOfPlan(members) }));
}
