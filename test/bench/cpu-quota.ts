import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Limits CPU time with a Linux control group, as Lambda does in proportion to a function's memory size.

/** Memory size with one full core. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
export const MEGABYTES_PER_CORE = 1_769;
/** Period of the quota. AWS documents none; Linux defaults to 100 ms. */
export const PERIOD_MILLISECONDS = 20;
const PERIOD = PERIOD_MILLISECONDS * 1_000;

/** Versions of control groups with the files that set a quota, in microseconds per period. */
const hierarchies = [
  {
    kind: 'cgroup v1',
    mount: '/sys/fs/cgroup/cpu',
    files: (quota: number) => ({ 'cpu.cfs_period_us': `${PERIOD}`, 'cpu.cfs_quota_us': `${quota}` }),
  },
  {
    kind: 'cgroup v2',
    mount: '/sys/fs/cgroup',
    // The parent must delegate the controller. The kernel allows this in the root group, or without processes in it.
    files: (quota: number) => ({ '../cgroup.subtree_control': '+cpu', 'cpu.max': `${quota} ${PERIOD}` }),
  },
];

export type CpuQuota = NonNullable<ReturnType<typeof createCpuQuota>>;

/** Returns a CPU quota that lasts until this process exits, or undefined if no control group can be created. */
export function createCpuQuota() {
  for (const { kind, mount, files } of hierarchies) {
    const folder = join(mount, `pet-store-bench-${process.pid}`);
    // `r+` fails if the file does not exist, which means that the folder is not a control group.
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { flag: 'r+' });
    /** Limits the processes to Lambda's CPU share for a memory size. @default - one core */
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
        /** Adds a process, including its current and future threads. */
        add: (pid: number) => write('cgroup.procs', `${pid}`),
        setMemorySize,
        /** Returns the number of throttled periods so far. */
        timesThrottled: () => /nr_throttled (\d+)/.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8'))?.[1],
      };
    } catch {
      // Another version of control groups, no permission, or a parent group with less than one core.
    }
  }
  return undefined;
}

/** Removes the group once killed processes have left it. Blocks, because asynchronous work does not run during exit. */
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
