import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Limits CPU time in proportion to the memory size, as Lambda does. Uses a Linux control group.

/** Memory size of a function with one core. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const MEGABYTES_PER_CORE = 1_769;
/** Period of the CPU quota. AWS does not document the period that Lambda uses. */
const PERIOD_MILLISECONDS = 20;

export type CpuQuota = NonNullable<ReturnType<typeof createCpuQuota>>;

/** Returns a CPU quota that lasts until this process exits, or undefined if no control group can be created. */
export function createCpuQuota() {
  const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const folder = join('/sys/fs/cgroup', isV2 ? '' : 'cpu', `bench-${process.pid}`);
  // `r+` does not create files, so writing fails if the folder is not a control group.
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { flag: 'r+' });

  /** Limits the group's processes to Lambda's CPU share for the given memory size. @default - one core */
  function setMemorySize(megabytes = MEGABYTES_PER_CORE): void {
    const period = PERIOD_MILLISECONDS * 1_000;
    const quota = Math.round(Math.min(1, megabytes / MEGABYTES_PER_CORE) * period);
    if (isV2) return write('cpu.max', `${quota} ${period}`);
    write('cpu.cfs_period_us', `${period}`);
    write('cpu.cfs_quota_us', `${quota}`);
  }

  try {
    mkdirSync(folder);
    // Repeats `rmdir`, because a group can be removed only after the killed processes have left it.
    const remove = 'until rmdir "$0"; do sleep 0.01; done';
    process.once('exit', () => spawnSync('sh', ['-c', remove, folder], { timeout: 2_000 }));
    // Lets the group limit CPU time. The kernel rejects this setting if the parent group contains processes, and then
    // there is no quota.
    if (isV2) write('../cgroup.subtree_control', '+cpu');
    setMemorySize();
  } catch {
    return undefined; // permission is missing, or the parent group has less than one core
  }
  return {
    /** Adds a process and all its threads to the control group. */
    add: (pid: number) => write('cgroup.procs', `${pid}`),
    setMemorySize,
    describe(): string {
      const [, throttled] = /nr_throttled (\d+)/.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8'))!;
      return `cgroup v${isV2 ? 2 : 1}, ${throttled} throttled periods of ${PERIOD_MILLISECONDS} ms`;
    },
  };
}
