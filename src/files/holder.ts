/** Who holds a lock or a run, and whether that process still runs (design: boot and process namespace first). */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { isObject } from '../data/json.js';

/** This process, as the lock needs it; handed in from `main.ts`. */
export interface ThisProcess {
  readonly pid: number;
  /** Whether a process with this id exists on this machine (signal 0; a refusal means yes). */
  isAlive(pid: number): boolean;
  /** By default asked of the system. */
  readonly facts?: MachineFacts;
}

/** What tells one machine, one boot and one container from another. */
export interface MachineFacts {
  readonly host: string;
  /** Of the installed system (/etc/machine-id); clones of an image share it. */
  readonly machine?: string | undefined;
  /** Of this start of the kernel; undefined without /proc. */
  readonly boot?: string | undefined;
  /** The process namespace in which pids mean something; undefined without /proc. */
  readonly namespace?: string | undefined;
  /** When the machine was started, in milliseconds since 1970. */
  readonly bootedAt: number;
  /** State and start of a process; undefined where there is none or the system does not tell. */
  readonly birthOf: (
    pid: number,
  ) => { readonly state: string; readonly started: string } | undefined;
}

/** Who holds a lock, as its file says. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** When it was taken, in milliseconds since 1970. */
  readonly at?: number;
  /** Start of the process in clock ticks since boot, where the system tells: a pid alone is reused. */
  readonly started?: string;
  readonly boot?: string;
  readonly namespace?: string;
  readonly machine?: string;
  readonly purpose?: string;
}

/** Whether a holder still runs; `unsure` where only a person can tell. */
type HolderState = 'runs' | 'gone' | 'unsure';

/** What a lock file of this process says. */
export function describeSelf(self: ThisProcess, purpose: string | undefined): LockHolder {
  const facts = factsOf(self);
  const { host, machine, boot, namespace } = facts;
  const started = facts.birthOf(self.pid)?.started;
  return {
    pid: self.pid,
    host,
    at: Date.now(),
    ...(started !== undefined && { started }),
    ...(boot !== undefined && { boot }),
    ...(namespace !== undefined && { namespace }),
    ...(machine !== undefined && { machine }),
    ...(purpose !== undefined && { purpose }),
  };
}

/** The holder that a lock file names; undefined for an empty file (released) or a damaged one. */
export function parseHolder(text: string): LockHolder | undefined {
  if (text === '') return undefined;
  try {
    return holderOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The holder that a parsed value names; undefined where it names none. */
export function holderOf(value: unknown): LockHolder | undefined {
  if (!isObject(value)) return undefined;
  const { pid, host: place, at } = value;
  if (typeof pid !== 'number' || typeof place !== 'string') return undefined;
  // Version 0.1.0 wrote `host/pid:[4026531836]`.
  const [host = '', old] = place.split('/');
  const texts = { namespace: old, ...value };
  const text = (key: 'started' | 'boot' | 'namespace' | 'machine' | 'purpose') => {
    const found = (texts as typeof value)[key];
    return typeof found === 'string' ? { [key]: found } : {};
  };
  return {
    pid,
    host,
    ...(typeof at === 'number' && { at }),
    ...text('started'),
    ...text('boot'),
    ...text('namespace'),
    ...text('machine'),
    ...text('purpose'),
  };
}

/** Whether two descriptions are of one process. */
export function isSameProcess(a: LockHolder, b: LockHolder): boolean {
  const keys = ['pid', 'host', 'started', 'boot', 'namespace'] as const;
  return keys.every((key) => a[key] === b[key]);
}

/**
 * Whether the holder still runs. Same boot and process namespace: its pid and start time decide. Same
 * boot, other namespace: a container may be alive. Same machine id and host name, another boot: gone
 * (machine ids alone are cloned with images). Anything else: unsure.
 */
export function holderState(holder: LockHolder, self: ThisProcess): HolderState {
  const here = factsOf(self);
  if (here.boot === undefined) return stateWithoutProc(holder, here, self);
  if (holder.boot === here.boot) {
    const isVisible = holder.namespace !== undefined && holder.namespace === here.namespace;
    return isVisible ? stateOfPid(holder, here, self) : 'unsure';
  }
  const isSameMachine =
    holder.machine !== undefined && holder.machine === here.machine && holder.host === here.host;
  return isSameMachine && holder.boot !== undefined ? 'gone' : 'unsure';
}

function stateOfPid(holder: LockHolder, here: MachineFacts, self: ThisProcess): HolderState {
  const birth = here.birthOf(holder.pid);
  if (birth === undefined) return self.isAlive(holder.pid) ? 'runs' : 'gone';
  // A zombie runs nothing any more, it only waits for its parent to notice.
  if (birth.state === 'Z' || birth.state === 'X') return 'gone';
  return holder.started !== undefined && holder.started !== birth.started ? 'gone' : 'runs';
}

/** Clocks are set now and then: a lock must be this much older than the boot. */
const bootMarginMs = 60_000;

/** macOS and Windows: nothing tells when a process began, so a pid that exists may be another's. */
function stateWithoutProc(holder: LockHolder, here: MachineFacts, self: ThisProcess): HolderState {
  if (holder.host !== here.host) return 'unsure';
  if (holder.at !== undefined && holder.at < here.bootedAt - bootMarginMs) return 'gone';
  return self.isAlive(holder.pid) ? 'unsure' : 'gone';
}

/** They stay while the process runs; asking for them takes four files, for each of many locks. */
let asked: MachineFacts | undefined;

function factsOf({ facts }: ThisProcess): MachineFacts {
  return facts ?? (asked ??= askFacts());
}

function askFacts(): MachineFacts {
  return {
    host: hostname(),
    machine: readText('/etc/machine-id') ?? readText('/var/lib/dbus/machine-id'),
    boot: readText('/proc/sys/kernel/random/boot_id'),
    namespace: namespaceOf(),
    bootedAt: Date.now() - uptime() * 1000,
    birthOf,
  };
}

/** Fields 3 and 22 of /proc/PID/stat. */
function birthOf(pid: number): { state: string; started: string } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in field 2 may hold spaces and brackets: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields[0], fields[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

function namespaceOf(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
