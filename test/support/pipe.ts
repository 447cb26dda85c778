import { constants, openSync } from 'node:fs';
import { until } from '../bulk/user.js';

/** Opens a named pipe for writing as soon as a process reads it. */
export async function openWhenRead(path: string): Promise<number> {
  let descriptor: number | undefined;
  await until(() => {
    try {
      descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {}
    return descriptor !== undefined;
  });
  return descriptor ?? -1;
}
