import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Lambda gives a function a share of a core by its memory size. A control group of Linux does the same, where this process
// may make one.

/** Memory size at which a function has one whole core. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
export const MEGABYTES_PER_CORE = 1_769;
/** AWS documents none; the default of Linux is 100 ms. */
export const PERIOD_MILLISECONDS = 20;
const PERIOD_MICROSECONDS = PERIOD_MILLISECONDS * 1_000;

/** A killed process leaves its group within moments. */
const ATTEMPTS_TO_REMOVE = 200;
const MILLISECONDS_BETWEEN_ATTEMPTS = 10;

const hierarchies = [
  {
    kind: 'cgroup v1',
    mount: '/sys/fs/cgroup/cpu',
    quotaFile: 'cpu.cfs_quota_us',
    files: (quota: number) => ({ 'cpu.cfs_period_us': PERIOD_MICROSECONDS, 'cpu.cfs_quota_us': quota }),
  },
  {
    kind: 'cgroup v2',
    mount: '/sys/fs/cgroup',
    quotaFile: 'cpu.max',
    files: (quota: number) => ({ 'cpu.max': `${quota} ${PERIOD_MICROSECONDS}` }),
  },
];

export interface CpuQuota {
  kind: string;
  /** Holds a process to it, with all threads that it has and will have. */
  hold: (pid: number) => void;
  /** Gives what it holds as much processor time as Lambda gives a memory size; one core without. */
  setMemorySize: (megabytes?: number) => void;
  /** Ends what it holds. */
  remove: () => void;
}

/** @returns undefined where this process may not make a control group for processor time. */
export function createCpuQuota(): CpuQuota | undefined {
  for (const { kind, mount, quotaFile, files } of hierarchies) {
    const folder = join(mount, `pet-store-bench-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    const quota: CpuQuota = {
      kind,
      hold: (pid) => writeFileSync(join(folder, 'cgroup.procs'), pid.toString()),
      setMemorySize(megabytes = MEGABYTES_PER_CORE) {
        const microseconds = Math.round(Math.min(1, megabytes / MEGABYTES_PER_CORE) * PERIOD_MICROSECONDS);
        for (const [name, value] of Object.entries(files(microseconds))) {
          writeFileSync(join(folder, name), value.toString());
        }
      },
      remove() {
        for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n')) {
          if (pid) process.kill(Number(pid), 'SIGKILL');
        }
        removeWhenEmpty(folder);
      },
    };
    try {
      // A file that is not there would be made, were this no control group.
      if (existsSync(join(folder, quotaFile))) {
        quota.setMemorySize();
        return quota;
      }
    } catch {
      // The group above has less than a core.
    }
    rmdirSync(folder);
  }
  return undefined;
}

/** Why there is none. */
export function explainNoQuota(): string {
  if (process.platform !== 'linux') return 'a CPU quota takes Linux';
  if (process.getuid!() !== 0) return 'a CPU quota takes the rights of root';
  return 'no control group for processor time can be made on this machine';
}

/** It keeps the thread waiting: this is for the last that a process does. */
function removeWhenEmpty(folder: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmdirSync(folder);
    } catch (error) {
      if (attempt === ATTEMPTS_TO_REMOVE) throw error;
    }
    Atomics.wait(clock, 0, 0, MILLISECONDS_BETWEEN_ATTEMPTS);
  }
}
