import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Lambda gives a function a share of a core by its memory size. A control group of Linux does the same.

/** Memory size at which a function has one whole core. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
export const MEGABYTES_PER_CORE = 1_769;
/** AWS documents none; the default of Linux is 100 ms. */
export const PERIOD_MILLISECONDS = 20;
const PERIOD = PERIOD_MILLISECONDS * 1_000;

/** The files that set a quota in microseconds of each period. */
const hierarchies = [
  {
    kind: 'cgroup v1',
    mount: '/sys/fs/cgroup/cpu',
    files: (quota: number) => ({ 'cpu.cfs_period_us': `${PERIOD}`, 'cpu.cfs_quota_us': `${quota}` }),
  },
  {
    kind: 'cgroup v2',
    mount: '/sys/fs/cgroup',
    // The parent must pass the controller on. The kernel accepts that in the root group, or without processes in it.
    files: (quota: number) => ({ '../cgroup.subtree_control': '+cpu', 'cpu.max': `${quota} ${PERIOD}` }),
  },
];

export type CpuQuota = NonNullable<ReturnType<typeof createCpuQuota>>;

/** A CPU quota until this process exits, or undefined if it may not create a control group. */
export function createCpuQuota() {
  for (const { kind, mount, files } of hierarchies) {
    const folder = join(mount, `pet-store-bench-${process.pid}`);
    // Only a control group has these files already.
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { flag: 'r+' });
    /** Limits the processes to the CPU time that Lambda gives a memory size. @default - one core */
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
        /** Adds a process, with all threads that it has and will have. */
        add: (pid: number) => write('cgroup.procs', `${pid}`),
        setMemorySize,
        /** The number of periods in which processes used up their share, so far. */
        timesThrottled: () => /nr_throttled (\d+)/.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8'))?.[1],
      };
    } catch {
      // Not this kind, not allowed, or the parent group has less than a core.
    }
  }
  return undefined;
}

/** Blocks the thread, because an exiting process does nothing later: a killed process leaves its group within moments. */
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
