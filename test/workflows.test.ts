import { expect, test } from '@jest/globals';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const folder = '.github/workflows/';
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');

/** Splits a workflow into its jobs. The parts before the jobs contain its other settings. */
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
    // The deployment roles trust a job's token only in a GitHub environment, so that an environment such as production
    // can require an approval.
    for (const job of jobsIn(workflow).filter((one) => one.includes(': write')))
      expect(job).toMatch(/^ {4}environment: (?:staging|production)$/m);
    expect(workflow).not.toMatch(/(?<!id-token): write\b|write-all|pull_request_target|workflow_run/);
    // Scripts must not contain expressions such as `${{ github.head_ref }}`, because a branch name or the title of a pull
    // request can contain shell commands.
    expect(workflow).not.toMatch(/run:.*\$\{\{/);
  },
);

test('Dependabot updates every folder that has a lock file', () => {
  const folders = globSync('{package-lock.json,test/*/package-lock.json}').map((file) =>
    join('/', dirname(file)),
  );
  const updated = readFileSync('.github/dependabot.yml', 'utf8').match(/(?<=[ [])\/[\w/]*/g);
  expect(updated!.toSorted()).toEqual(['/', ...folders].toSorted());
});

const deployment = read('deploy.yml');
const jobOf = (name: string) => jobsIn(deployment).find((job) => job.startsWith(`  ${name}:\n`));

test('a canceled job of production points the aliases back to the old versions if its deployment is unfinished', () => {
  expect(jobOf('production')).toMatch(
    / {6}- if: cancelled\(\)\n {8}run: >\n.*\n {10}--stage production --back --if-unfinished\n$/,
  );
});

test('deployments run only on main, and GitHub cancels no running deployment', () => {
  expect(deployment).toMatch(
    /^on:\n {2}push:\n {4}branches: \[main\]\n(?: {2}#.*\n)* {2}workflow_dispatch:\n(?: {4,}.*\n)*\n/m,
  );
  for (const job of ['test', 'synthesize'])
    expect(jobOf(job)).toContain("if: github.ref == 'refs/heads/main'");
  expect(deployment).toContain('cancel-in-progress: false');
});

test('production gets only what has passed all checks and the HTTP tests of staging', () => {
  expect(jobOf('test')).toContain('run: .ci/run\n');
  expect(jobOf('staging')).toContain('    needs: [test, synthesize]\n');
  expect(jobOf('smoke')).toContain('    needs: staging\n');
  expect(jobOf('smoke')).toContain('run: npm run smoke -- --stage staging\n');
  expect(jobOf('production')).toContain('    needs: [synthesize, smoke]\n    environment: production\n');
});

// No tests run in the job that synthesizes, because the tools of the tests could change what is deployed.
test('a job without tests synthesizes, and the deployments deploy only the assembly with its hash', () => {
  const synthesize = jobOf('synthesize')!;
  expect(commandsIn(synthesize)).toEqual([
    'npm ci --ignore-scripts',
    'npx cdk synth --quiet --output cdk.out',
    expect.stringMatching(/^sha256=\$\(node infra\/operate\/deploy\/print-hash\.ts cdk\.out\)/),
  ]);
  expect(synthesize).not.toMatch(/cache: npm|secrets\.|: write/);
  for (const stage of ['staging', 'production']) {
    expect(jobOf(stage)).toContain('SHA256: ${{ needs.synthesize.outputs.sha256 }}\n');
    const command = commandsIn(jobOf(stage)!).find((one) => one.includes('--assembly'));
    expect(command).toContain(`--stage ${stage} --assembly cdk.out --sha256 "$SHA256"`);
  }
});

// Everything that runs in a job with `id-token: write` could request an id token and assume the deployment role.
// imports.test.ts tests that the deployment command imports no npm packages.
test('jobs that can request an id token run no code of npm packages except the CDK’s command line', () => {
  const jobs = readdirSync(folder)
    .flatMap((name) => jobsIn(read(name)))
    .filter((job) => job.includes('id-token: write'));
  expect(jobs).toHaveLength(2);
  const allowed =
    /^(?:npm ci --ignore-scripts|exec node --require \.\/infra\/require-node\.cjs infra\/operate\/deploy\/main\.ts .*|url=\$\(aws cloudformation [^;&|]*)$/s;
  for (const job of jobs) {
    expect(commandsIn(job).filter((command) => !allowed.test(command))).toEqual([]);
    const [before, after] = job.split('configure-aws-credentials');
    expect(before).toContain('npm ci --ignore-scripts');
    expect(after).not.toMatch(/\bnpm (?:ci|install)\b/);
  }
});

/** Returns the commands of a job's steps. */
function commandsIn(job: string): string[] {
  const runs = job.matchAll(/^ +(?:- )?run: (?:[|>]\n((?: {10}.*\n)+)|(.*)\n)/gm);
  return Array.from(runs, ([, block, line]) =>
    (block ?? line)!
      .replaceAll(/^ {10}/gm, '')
      .trim()
      .replaceAll('\n', ' '),
  );
}
