/** Holders of locks and runs: which process it is, and whether it still runs. */
import type * as ChildProcess from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname, uptime } from 'node:os';
import { isObject, numberOf, objectIn, stringOf } from '../data/json.js';
import { onWindows } from '../data/text.js';

/** This process, as locks need it; passed in from `main.ts`. */
export interface ThisProcess {
  readonly pid: number;
  /**
   * True if a process with this id exists on this machine (signal 0; a permission error means yes).
   */
  isAlive(pid: number): boolean;
  /** Called when the process ends, except by a signal that it does not handle. */
  readonly atExit?: Set<() => void>;
  /** Read from the system when first needed, which opens five files. */
  facts?: MachineFacts;
  /** When this process began, as in `LockHolder`; read when first needed. */
  started?: string | undefined;
}

/** Identifies a machine, its boot and a container. */
export interface MachineFacts {
  readonly host: string;
  /** The id of the installed system (/etc/machine-id); clones of an image share it. */
  readonly machine?: string | undefined;
  /** The id of this boot of the kernel; undefined without /proc. */
  readonly boot?: string | undefined;
  /** The process namespace in which pids are valid; undefined without /proc. */
  readonly namespace?: string | undefined;
  /** When the machine booted, in milliseconds since 1970. */
  readonly bootedAt: number;
  /**
   * State and start time of a process; undefined if it does not exist or the system does not say.
   */
  readonly processInfo: (
    pid: number,
  ) => { readonly state: string; readonly started: string } | undefined;
  /**
   * When a process began, in milliseconds since 1970, as `ps` says; undefined if it does not. Asked for only
   * without /proc.
   */
  readonly beganAt: (pid: number) => number | undefined;
}

/** The holder of a lock, as written in its file. */
export interface LockHolder extends Pick<MachineFacts, 'host' | 'machine' | 'boot' | 'namespace'> {
  readonly pid: number;
  /** When the machine booted by the clock of that time: tells how far the clock was set since. */
  readonly bootedAt?: number | undefined;
  /** When it was acquired, in milliseconds since 1970. */
  readonly at?: number | undefined;
  /** Start of the process in clock ticks since boot, if known, because pids are reused. */
  readonly started?: string | undefined;
  readonly purpose?: string | undefined;
}

/** The state of a holder; `unsure` if only a person can tell. */
type HolderState = 'runs' | 'gone' | 'unsure';

/** Returns what this process writes into a lock file. */
export function describeSelf(self: ThisProcess, purpose: string | undefined): LockHolder {
  const { host, machine, boot, namespace, bootedAt, processInfo } = factsOf(self);
  const started = (self.started ??= processInfo(self.pid)?.started);
  return {
    pid: self.pid,
    host,
    at: Date.now(),
    bootedAt: Math.round(bootedAt),
    started,
    boot,
    namespace,
    machine,
    purpose,
  };
}

/** Parses the holder in a lock file; undefined for an empty file (released) or a damaged one. */
export function parseHolder(text: string): LockHolder | undefined {
  return holderOf(objectIn(text));
}

/** Returns the holder in a parsed value, or undefined if it describes none. */
export function holderOf(value: unknown): LockHolder | undefined {
  if (!isObject(value)) return undefined;
  const { pid, host: hostText } = value;
  if (typeof pid !== 'number' || typeof hostText !== 'string') return undefined;
  // Version 0.1.0 wrote `host/pid:[4026531836]`.
  const [host = '', legacyNamespace] = hostText.split('/');
  return {
    pid,
    host,
    at: numberOf(value['at']),
    bootedAt: numberOf(value['bootedAt']),
    started: stringOf(value['started']),
    boot: stringOf(value['boot']),
    namespace: stringOf(value['namespace']) ?? legacyNamespace,
    machine: stringOf(value['machine']),
    purpose: stringOf(value['purpose']),
  };
}

/** How far the clock was set ahead since a process of the same boot described itself, in milliseconds; 0 if unknown. */
export function setAheadSince({ boot, bootedAt }: LockHolder, self: ThisProcess): number {
  const local = factsOf(self);
  if (bootedAt === undefined || boot === undefined || boot !== local.boot) return 0;
  return Math.max(0, local.bootedAt - bootedAt);
}

/** True if both describe the same process. */
export function isSameProcess(a: LockHolder, b: LockHolder): boolean {
  const keys = ['pid', 'host', 'started', 'boot', 'namespace'] as const;
  return keys.every((key) => a[key] === b[key]);
}

/**
 * Returns the state of a holder. Same boot and process namespace: its pid and start time decide.
 * Same boot, other namespace: unsure, because a container may be alive. Same machine id and host
 * name, other boot: gone (the machine id alone is cloned with images). Anything else: unsure.
 */
export function holderState(holder: LockHolder, self: ThisProcess): HolderState {
  const local = factsOf(self);
  if (local.boot === undefined) return stateWithoutProc(holder, local, self);
  if (holder.boot === local.boot) {
    const isVisible = holder.namespace !== undefined && holder.namespace === local.namespace;
    return isVisible ? stateOfPid(holder, local, self) : 'unsure';
  }
  const isSameMachine =
    holder.machine !== undefined && holder.machine === local.machine && holder.host === local.host;
  return isSameMachine && holder.boot !== undefined ? 'gone' : 'unsure';
}

function stateOfPid(holder: LockHolder, local: MachineFacts, self: ThisProcess): HolderState {
  const info = local.processInfo(holder.pid);
  if (info === undefined) return self.isAlive(holder.pid) ? 'runs' : 'gone';
  // A zombie no longer runs; it only waits for its parent to reap it.
  if (info.state === 'Z' || info.state === 'X') return 'gone';
  return holder.started !== undefined && holder.started !== info.started ? 'gone' : 'runs';
}

/** A time must be this much before another one to count, because clocks are adjusted now and then. */
const marginMs = 60_000;

/** On macOS and Windows: a process that began after the lock was acquired only has the holder's pid. */
function stateWithoutProc(
  { host, pid, at }: LockHolder,
  local: MachineFacts,
  self: ThisProcess,
): HolderState {
  if (host !== local.host) return 'unsure';
  if (at !== undefined && at < local.bootedAt - marginMs) return 'gone';
  if (!self.isAlive(pid)) return 'gone';
  // Every write looks at its own run, too, which is not worth the start of a program.
  const beganAt = pid === self.pid ? undefined : local.beganAt(pid);
  if (beganAt === undefined || at === undefined) return 'unsure';
  return beganAt > at + marginMs ? 'gone' : 'runs';
}

function factsOf(self: ThisProcess): MachineFacts {
  return (self.facts ??= readFacts());
}

function readFacts(): MachineFacts {
  return {
    host: hostname(),
    machine: readText('/etc/machine-id') ?? readText('/var/lib/dbus/machine-id'),
    boot: readText('/proc/sys/kernel/random/boot_id'),
    namespace: namespaceOf(),
    bootedAt: Date.now() - uptime() * 1000,
    processInfo: readProcessInfo,
    beganAt: askPs(),
  };
}

/** Asks once about each process, because whoever waits for a lock looks at its holder again and again. */
export function askPs(isWindows = onWindows): MachineFacts['beganAt'] {
  // There the path names a program in the root of the drive, where any user may put one.
  if (isWindows) return () => undefined;
  const known = new Map<number, number | undefined>();
  return (pid) => {
    if (!known.has(pid)) known.set(pid, beganByPs(pid));
    return known.get(pid);
  };
}

/** By the time that has passed since, as POSIX has it: `[[dd-]hh:]mm:ss`. */
function beganByPs(pid: number): number | undefined {
  // Loaded when first needed, as only a lock that is held asks.
  const { spawnSync } = createRequire(import.meta.url)('node:child_process') as typeof ChildProcess;
  const { stdout } = spawnSync('/bin/ps', ['-o', 'etime=', '-p', String(pid)], {
    encoding: 'utf8',
    env: {},
    timeout: 2_000,
  });
  const [passed, ...parts] = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$/.exec(stdout?.trim()) ?? [];
  if (passed === undefined) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  return Date.now() - (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

/** Fields 3 and 22 of /proc/PID/stat. */
function readProcessInfo(pid: number): { state: string; started: string } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in field 2 may contain spaces and parentheses: count from the last one.
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
