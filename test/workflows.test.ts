import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allFiles } from './support/project-copy.ts';

const folder = '.github/workflows/';
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');

/** Returns the parts of a workflow that define its jobs. The first part precedes the jobs. */
function jobsIn(workflow: string): string[] {
  return workflow.split(/^(?= {2}[\w-]+:\n)/m);
}

test.each(readdirSync(folder))(
  '%s pins its actions and Node.js, and limits the permissions of its token',
  (name) => {
    const workflow = read(name);
    const uses = workflow.match(/uses:.*/g)!;
    const pinned = /^uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(uses.filter((line) => !pinned.test(line))).toEqual([]);
    expect(workflow.match(/node-version: (?!\d+\.\d+\.\d+\n)/g) ?? []).toEqual([]);
    expect(workflow).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    // Only jobs with an environment may request an id token, because AWS trusts the token only in a GitHub environment.
    expect(workflow.match(/: write\b/g) ?? []).toHaveLength(
      workflow.match(/^ {4}environment:/gm)?.length ?? 0,
    );
    expect(workflow).not.toMatch(/(?<!id-token): write\b|write-all|pull_request_target|workflow_run/);
    // Scripts must not contain expressions such as `${{ github.head_ref }}`, because a branch name or the title of a pull
    // request can contain shell commands.
    expect(workflow).not.toMatch(/run:.*\$\{\{/);
  },
);

test('Dependabot updates every folder that has a lock file', () => {
  const folders = allFiles()
    .filter((file) => file.endsWith('package-lock.json'))
    .map((file) => join('/', dirname(file)));
  const updated = readFileSync('.github/dependabot.yml', 'utf8').match(/(?<=[ [])\/[\w/]*/g);
  expect(updated!.toSorted()).toEqual(['/', ...folders].toSorted());
});

const deployment = read('deploy.yml');
const jobOf = (name: string) => jobsIn(deployment).find((job) => job.startsWith(`  ${name}:\n`));

test('deployments run only on main, and GitHub cancels no running deployment', () => {
  expect(deployment).toMatch(/^on:\n {2}push:\n {4}branches: \[main\]\n {2}workflow_dispatch:\n\n/m);
  expect(jobOf('build')).toContain("if: github.ref == 'refs/heads/main'");
  expect(deployment).toContain('cancel-in-progress: false');
});

test('production gets only what has passed all checks and the smoke tests of staging', () => {
  expect(jobOf('build')).toContain('run: .ci/run\n');
  expect(jobOf('staging')).toContain('    needs: build\n');
  expect(jobOf('staging')).toContain('run: npm run smoke -- --stage staging\n');
  expect(jobOf('production')).toContain('    needs: staging\n    environment: production\n');
});

// In such a job, an install script could request an id token and assume the deployment role.
test('jobs that can request an id token install without scripts, before they get AWS credentials', () => {
  const jobs = readdirSync(folder)
    .flatMap((name) => jobsIn(read(name)))
    .filter((job) => job.includes('id-token: write'));
  expect(jobs).toHaveLength(2);
  for (const job of jobs) {
    const [before, after] = job.split('configure-aws-credentials');
    expect(before!.match(/\bnpm (?:ci|install)\b.*/g)).toEqual(['npm ci --ignore-scripts']);
    expect(after).not.toMatch(/\bnpm (?:ci|install)\b/);
  }
});
