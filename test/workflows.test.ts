import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stackName } from '../shared/names.ts';
import { allFiles } from './support/project-copy.ts';

const folder = '.github/workflows/';
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');

/** Returns the part of the YAML text `workflow` that defines the job `name`. */
function jobIn(workflow: string, name: string): string {
  return new RegExp(`^  ${name}:\n(?:(?:    .*)?\n)+`, 'm').exec(workflow)![0];
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

const workflow = read('deploy.yml');

test('deployments run only on main, and GitHub cancels no running deployment', () => {
  expect(workflow).toMatch(/^on:\n {2}push:\n {4}branches: \[main\]\n {2}workflow_dispatch:\n\n/m);
  expect(jobIn(workflow, 'build')).toContain("if: github.ref == 'refs/heads/main'");
  expect(workflow).toContain('cancel-in-progress: false');
});

// In such a job, an install script could request an id token and assume the deployment role.
test('jobs that can request an id token run no install scripts', () => {
  const jobs = readdirSync(folder).flatMap((name) => read(name).split(/^(?= {2}[\w-]+:\n)/m));
  const installs = jobs
    .filter((job) => job.includes('id-token: write'))
    .flatMap((job) => job.match(/\bnpm (?:ci|install)\b.*/g) ?? []);
  expect(new Set(installs)).toEqual(new Set(['npm ci --ignore-scripts']));
});

test.each([
  ['staging', 'build', `npx cdk deploy ${stackName('staging')} --app cdk.out `],
  ['production', 'staging', '.github/deploy-production.sh\n'],
])('%s deploys the stacks that the build synthesized, after the job %s', (stage, previous, command) => {
  const job = jobIn(workflow, stage);
  expect(job).toMatch(new RegExp(`^ {4}needs: ${previous}\n {4}environment: ${stage}\n`, 'm'));
  expect(
    job.split(
      /run: npm ci --ignore-scripts\n[^]*download-artifact[^]*configure-aws-credentials[^]*?run: /,
    )[1],
  ).toMatch(new RegExp(`^${command}`));
  expect(job).not.toContain('cdk synth');
});

test('the build runs all checks before the synthesis, and the staging job ends with the smoke tests', () => {
  expect(jobIn(workflow, 'build')).toMatch(/run: \.ci\/run\n[^]*cdk synth/);
  expect(jobIn(workflow, 'staging').trimEnd()).toMatch(/run: npm run smoke -- --stage staging$/);
});
