import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Limits CPU time with a Linux control group, as Lambda does in proportion to a function's memory size.

/** Memory size with one full core. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
export const MEGABYTES_PER_CORE = 1_769;
/** Period of the CPU quota. AWS does not document the period that Lambda uses. */
export const PERIOD_MILLISECONDS = 20;
const PERIOD = PERIOD_MILLISECONDS * 1_000;

/** Versions of control groups, and the files that set a quota in microseconds per period. */
const hierarchies = [
  {
    kind: 'cgroup v1',
    mount: '/sys/fs/cgroup/cpu',
    files: (quota: number) => ({ 'cpu.cfs_period_us': `${PERIOD}`, 'cpu.cfs_quota_us': `${quota}` }),
  },
  {
    kind: 'cgroup v2',
    mount: '/sys/fs/cgroup',
    // The parent group must delegate the CPU controller. The kernel rejects this if the parent contains processes.
    files: (quota: number) => ({ '../cgroup.subtree_control': '+cpu', 'cpu.max': `${quota} ${PERIOD}` }),
  },
];

export type CpuQuota = NonNullable<ReturnType<typeof createCpuQuota>>;

/** Returns a CPU quota that lasts until this process exits, or undefined if no control group can be created. */
export function createCpuQuota() {
  for (const { kind, mount, files } of hierarchies) {
    const folder = join(mount, `pet-store-bench-${process.pid}`);
    // `r+` does not create files, so writing fails if the folder is not a control group.
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { flag: 'r+' });
    /** Limits the processes to Lambda's CPU share for the given memory size. @default - one core */
    function setMemorySize(megabytes = MEGABYTES_PER_CORE): void {
      const share = Math.min(1, megabytes / MEGABYTES_PER_CORE);
      for (const [name, text] of Object.entries(files(Math.round(share * PERIOD)))) write(name, text);
    }
    try {
      mkdirSync(folder);
      process.once('exit', () => removeWhenEmpty(folder));
      setMemorySize();
      return {
        kind,
        /** Adds a process with all its threads. */
        add: (pid: number) => write('cgroup.procs', `${pid}`),
        setMemorySize,
        /** Returns the number of periods in which the processes were throttled. */
        timesThrottled: () => /nr_throttled (\d+)/.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8'))?.[1],
      };
    } catch {
      // This version is not available, permission is missing, or the parent group has less than one core.
    }
  }
  return undefined;
}

/** Removes the group after killed processes have left it. Waits synchronously because Node is exiting. */
function removeWhenEmpty(folder: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      return rmdirSync(folder);
    } catch {
      Atomics.wait(clock, 0, 0, 10);
    }
  }
}
