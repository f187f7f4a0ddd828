import { readdirSync, readFileSync } from 'node:fs';

const folder = '.github/workflows/';

export const workflowFiles = readdirSync(folder);

export function readWorkflow(name: string): string {
  return readFileSync(`${folder}${name}`, 'utf8');
}

/** Splits a workflow into its jobs. The parts before the jobs contain its other settings. */
export function jobsIn(name: string): string[] {
  return readWorkflow(name).split(/^(?= {2}[\w-]+:\n)/m);
}

/** Returns the scripts of a job's steps. GitHub runs them with `bash -e`. */
export function scriptsIn(job: string): string[] {
  const runs = job.matchAll(/^ +(?:- )?run: (?:[|>]\n((?: {10}.*\n)+)|(.*)\n)/gm);
  return Array.from(runs, ([, block, line]) => (block ?? line)!.replaceAll(/^ {10}/gm, '').trim());
}
