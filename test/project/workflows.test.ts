import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { jobsIn, readWorkflow, scriptsIn, workflowFiles } from './workflows.ts';

/** Returns the scripts of a job's steps, each on one line. */
const commandsIn = (job: string): string[] => scriptsIn(job).map((script) => script.replaceAll('\n', ' '));

const allJobs = workflowFiles.flatMap(jobsIn);
const jobOf = (name: string) => jobsIn('deploy.yml').find((job) => job.startsWith(`  ${name}:\n`))!;

test('workflows pin their actions and Node.js, so that a moved tag runs no other code', () => {
  const unpinned = workflowFiles.flatMap((name) => {
    const lines = readWorkflow(name).match(/(?:uses|node-version):.*/g)!;
    const pinned = /^(?:uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v|node-version: )\d+\.\d+\.\d+$/;
    return lines.filter((line) => !pinned.test(line)).map((line) => `${name}: ${line}`);
  });
  expect(unpinned).toEqual([]);
});

test('tokens of workflows can only read, except id tokens, which need an environment', () => {
  for (const name of workflowFiles) {
    const workflow = readWorkflow(name);
    expect(workflow).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    expect(workflow).not.toMatch(/(?<!id-token): write\b|write-all|pull_request_target|workflow_run/);
  }
  // The deployment roles trust a job's token only in a GitHub environment, so that an environment such as production can
  // require an approval.
  for (const job of allJobs.filter((one) => one.includes(': write')))
    expect(job).toMatch(/^ {4}environment: (?:staging|production|production-read|sandbox)$/m);
});

// A branch name or the title of a pull request can contain shell commands.
test('scripts of workflows contain no expressions such as ${{ github.head_ref }}', () => {
  expect(allJobs.flatMap(scriptsIn).join('\n')).not.toContain('${{');
});

// Everything that runs in a job with `id-token: write` could request an id token and assume the job's role. The job of the
// sandbox may run everything, because the deployment of a pull request can do the same with this account.
test('jobs that can request an id token run no code of npm packages except the CDK’s command line', () => {
  const jobs = allJobs.filter(
    (job) => job.includes('id-token: write') && !job.includes('environment: sandbox'),
  );
  expect(jobs.length).toBeGreaterThan(0);
  for (const job of jobs) {
    const own = commandsIn(job).join('\n').replaceAll('npx cdk ', '');
    expect(own.replace('npm ci --ignore-scripts', '')).not.toMatch(/\b(?:node|npm|npx)\b/);
    expect(job.split('configure-aws-credentials')[1]).not.toMatch(/\bnpm ci\b/);
  }
});

test('production gets only what has passed all checks and the HTTP tests of staging, from main', () => {
  expect(readWorkflow('deploy.yml')).toMatch(/^ {2}push:\n {4}branches: \[main\]\n/m);
  expect(readWorkflow('deploy.yml')).toContain('cancel-in-progress: false');
  for (const job of ['test', 'synthesize'])
    expect(jobOf(job)).toContain("if: github.ref == 'refs/heads/main'");
  expect(jobOf('test')).toContain('run: .ci/run\n');
  expect(jobOf('staging')).toContain('    needs: [test, synthesize]\n');
  expect(jobOf('smoke')).toContain('    needs: staging\n');
  expect(jobOf('smoke')).toContain('run: node infra/operate/smoke.ts --stage staging\n');
  expect(jobOf('production')).toContain('    needs: [synthesize, smoke]\n    environment: production\n');
});

test('the tests of production store nothing', () => {
  expect(commandsIn(jobOf('smoke-production')).at(-1)).toBe(
    'node infra/operate/smoke.ts --stage production --read-only',
  );
});

// The tools of the tests could change what is deployed.
test('stages get only the assembly of a job without tests, which they recognize by its hash', () => {
  expect(jobOf('synthesize')).not.toMatch(/npm (?:run|test)|\.ci\/|cache: npm|secrets\.|: write/);
  for (const stage of ['staging', 'production']) {
    expect(jobOf(stage)).toContain('SHA256: ${{ needs.synthesize.outputs.sha256 }}\n');
    expect(commandsIn(jobOf(stage))).toEqual([
      'npm ci --ignore-scripts',
      '.github/hash-assembly.sh cdk.out "$SHA256"',
      expect.stringContaining(`cdk deploy PetStore-${stage} --app cdk.out `),
    ]);
  }
});

const assembly = temporaryFolder();

test('the hash of an assembly depends on the content and the path of each file, also behind a link', () => {
  const run = (...hash: string[]) =>
    spawnSync('.github/hash-assembly.sh', [assembly, ...hash], { encoding: 'utf8' });
  const inAsset = (name: string) => join(assembly, 'asset', name);
  mkdirSync(join(assembly, 'asset'));
  const hashes = [
    () => writeFileSync(inAsset('a.mjs'), 'a'),
    () => writeFileSync(inAsset('a.mjs'), 'b'),
    () => renameSync(inAsset('a.mjs'), inAsset('b.mjs')),
    () => symlinkSync('b.mjs', inAsset('c.mjs')),
  ].map((change) => {
    change();
    return run().stdout.trim();
  });
  expect(new Set(hashes).size).toBe(4);
  expect(hashes[0]).toMatch(/^[\da-f]{64}$/);
  expect(run(hashes[3]!).status).toBe(0);
  expect(run(hashes[2]!).status).toBe(1);
  symlinkSync('asset', join(assembly, 'folder'));
  expect(run(hashes[3]!).status).not.toBe(0);
});

test('the stage of a pull request needs a label and a role, and is destroyed even if its tests fail', () => {
  const sandbox = readWorkflow('sandbox.yml');
  expect(sandbox).toContain(
    "if: github.event.label.name == 'sandbox' && vars.AWS_SANDBOX_ROLE_ARN != ''\n    environment: sandbox\n",
  );
  const [deploy, destroy] = ['deploy', 'destroy'].map(
    (command) =>
      new RegExp(`cdk ${command} ("PetStore-\\$STAGE" -c "stage=\\$STAGE" .*?staging)`).exec(sandbox)?.[1],
  );
  expect(destroy).toBe(deploy ?? 'a stage');
  expect(sandbox.split(/^ {6}- /m).at(-1)).toMatch(/^if: always\(\)\n[^]*cdk destroy .* --force\n/);
});

test('the workflow Drift fails unless production is as it was deployed', () => {
  const [script] = jobsIn('drift.yml').flatMap(scriptsIn);
  const aws = `aws() { case $2 in detect-stack-drift) echo the-id ;; *detection-status) echo "$RESULT" ;; esac; }`;
  const isSuccess = [
    'DETECTION_COMPLETE\tIN_SYNC',
    'DETECTION_COMPLETE\tDRIFTED',
    'DETECTION_FAILED\tUNKNOWN',
  ].map((result) => {
    const env = { ...process.env, RESULT: `${result}\tNone` };
    return spawnSync('bash', ['-ec', `${aws}\n${script}`], { env }).status === 0;
  });
  expect(isSuccess).toEqual([true, false, false]);
});

test('Dependabot updates every folder that has a lock file', () => {
  const files = globSync('{package-lock.json,test/*/package-lock.json,test/*/requirements.txt}');
  const folders = files.map((file) => join('/', dirname(file)));
  const updated = readFileSync('.github/dependabot.yml', 'utf8').match(/(?<=[ [])\/[\w/]*/g);
  expect(updated!.toSorted()).toEqual(['/', ...folders].toSorted());
});
