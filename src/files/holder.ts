import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isObject } from '../data/json.js';

/** This process, as the lock needs it; handed in from `main.ts`. */
export interface ThisProcess {
  readonly pid: number;
  /** Whether a process with this id exists on this machine (signal 0; a refusal means yes). */
  isAlive(pid: number): boolean;
}

/** Who holds a lock, as its file says. */
export interface LockHolder {
  readonly pid: number;
  /** Machine, and on Linux the process namespace, in which `pid` means something. */
  readonly host: string;
  /** Start of the process in clock ticks since boot, where the system tells: a pid alone is reused. */
  readonly started?: string;
  readonly boot?: string;
  readonly purpose?: string;
}

/** What a lock file of this process says. */
export function describeSelf(self: ThisProcess, purpose: string | undefined): LockHolder {
  const birth = birthOf(self.pid);
  const boot = readText('/proc/sys/kernel/random/boot_id');
  return {
    pid: self.pid,
    host: place(),
    ...(birth?.started !== undefined && { started: birth.started }),
    ...(boot !== undefined && { boot }),
    ...(purpose !== undefined && { purpose }),
  };
}

/** The holder that a lock file names; undefined for an empty file (released) or a damaged one. */
export function parseHolder(text: string): LockHolder | undefined {
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { pid, host, started, boot, purpose } = value;
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
  return {
    pid,
    host,
    ...(typeof started === 'string' && { started }),
    ...(typeof boot === 'string' && { boot }),
    ...(typeof purpose === 'string' && { purpose }),
  };
}

/** Whether the holder surely runs no more. Of another machine nothing is sure, so the answer is no. */
export function isGone(holder: LockHolder, self: ThisProcess): boolean {
  if (holder.host !== place()) return false;
  const boot = readText('/proc/sys/kernel/random/boot_id');
  if (holder.boot !== undefined && boot !== undefined && holder.boot !== boot) return true;
  const birth = birthOf(holder.pid);
  if (birth === undefined) return !self.isAlive(holder.pid);
  // A zombie runs nothing any more, it only waits for its parent to notice.
  if (birth.state === 'Z' || birth.state === 'X') return true;
  return holder.started !== undefined && holder.started !== birth.started;
}

/** State and start of a process out of /proc (fields 3 and 22); undefined where there is none. */
function birthOf(pid: number): { state: string; started: string } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in field 2 may hold spaces and brackets: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields[0], fields[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

function place(): string {
  try {
    return `${hostname()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
