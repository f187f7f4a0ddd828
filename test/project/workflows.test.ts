import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { jobsIn, readWorkflow, scriptsIn, workflowFiles } from '../support/workflows.ts';

/** Returns the scripts of a job's steps, each on one line. */
const commandsIn = (job: string): string[] => scriptsIn(job).map((script) => script.replaceAll('\n', ' '));

const allJobs = workflowFiles.flatMap(jobsIn);

test.each(workflowFiles)(
  '%s pins its actions and Node.js, and limits the permissions of its token',
  (name) => {
    const workflow = readWorkflow(name);
    const uses = workflow.match(/uses:.*/g)!;
    const pinned = /^uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(uses.filter((line) => !pinned.test(line))).toEqual([]);
    expect(workflow.match(/node-version: (?!\d+\.\d+\.\d+\n)/g) ?? []).toEqual([]);
    expect(workflow).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    // The deployment roles trust a job's token only in a GitHub environment, so that an environment such as production
    // can require an approval.
    for (const job of jobsIn(name).filter((one) => one.includes(': write')))
      expect(job).toMatch(/^ {4}environment: (?:staging|production|production-read|sandbox)$/m);
    expect(workflow).not.toMatch(/(?<!id-token): write\b|write-all|pull_request_target|workflow_run/);
    // Scripts must not contain expressions such as `${{ github.head_ref }}`, because a branch name or the title of a pull
    // request can contain shell commands.
    expect(jobsIn(name).flatMap(scriptsIn).join('\n')).not.toContain('${{');
  },
);

test('each session on AWS has the name of the run that started it', () => {
  const steps = allJobs.flatMap((job) => job.split(/^ {6}- /m));
  const sessions = steps.filter((step) => step.includes('configure-aws-credentials'));
  expect(sessions.length).toBeGreaterThan(0);
  for (const step of sessions)
    expect(step).toContain('role-session-name: run-${{ github.run_id }}-${{ github.run_attempt }}\n');
});

test('Dependabot updates every folder that has a lock file', () => {
  const files = globSync('{package-lock.json,test/*/package-lock.json,test/*/requirements.txt}');
  const folders = files.map((file) => join('/', dirname(file)));
  const updated = readFileSync('.github/dependabot.yml', 'utf8').match(/(?<=[ [])\/[\w/]*/g);
  expect(updated!.toSorted()).toEqual(['/', ...folders].toSorted());
});

const deployment = readWorkflow('deploy.yml');
const jobOf = (name: string) => jobsIn('deploy.yml').find((job) => job.startsWith(`  ${name}:\n`));

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
  expect(jobOf('smoke')).toContain('run: node infra/operate/smoke.ts --stage staging\n');
  expect(jobOf('production')).toContain('    needs: [synthesize, smoke]\n    environment: production\n');
});

test('production runs only the tests that store nothing', () => {
  expect(jobOf('smoke-production')).toContain('    needs: production\n');
  expect(commandsIn(jobOf('smoke-production')!)).toEqual([
    'npm ci --ignore-scripts',
    'node infra/operate/smoke.ts --stage production --read-only',
  ]);
});

// No tests run in the job that synthesizes, because the tools of the tests could change what is deployed.
test('a job without tests synthesizes, and the deployments deploy only the assembly with its hash', () => {
  const synthesize = jobOf('synthesize')!;
  expect(commandsIn(synthesize)).toEqual([
    'git merge-base --is-ancestor HEAD refs/remotes/origin/main',
    'npm ci --ignore-scripts',
    'npx cdk synth --quiet --output cdk.out ${CANARY_OFF:+-c canary=off}',
    expect.stringMatching(/^sha256=\$\(\.github\/hash-assembly\.sh cdk\.out\)/),
  ]);
  expect(synthesize).toContain("CANARY_OFF: ${{ inputs.canary_off && 'true' || '' }}\n");
  expect(synthesize).toContain('ref: ${{ inputs.commit }}\n');
  expect(synthesize).not.toMatch(/cache: npm|secrets\.|: write/);
  expect(jobOf('changes')).toContain('SHA256: ${{ needs.synthesize.outputs.sha256 }}\n');
  for (const stage of ['staging', 'production']) {
    const job = jobOf(stage)!;
    expect(job).toContain('SHA256: ${{ needs.synthesize.outputs.sha256 }}\n');
    expect(commandsIn(job)).toEqual([
      'npm ci --ignore-scripts',
      '.github/hash-assembly.sh cdk.out "$SHA256"',
      expect.stringContaining(`cdk deploy PetStore-${stage} --app cdk.out `),
    ]);
  }
});

const assembly = temporaryFolder();

test('the hash of an assembly depends on the content and the path of each file, also behind a link', () => {
  const hashAfter = (change: () => void) => {
    change();
    return spawnSync('.github/hash-assembly.sh', [assembly], { encoding: 'utf8' }).stdout;
  };
  mkdirSync(join(assembly, 'asset'));
  const hashes = [
    hashAfter(() => writeFileSync(join(assembly, 'asset/a.mjs'), 'a')),
    hashAfter(() => {}),
    hashAfter(() => writeFileSync(join(assembly, 'asset/a.mjs'), 'b')),
    hashAfter(() => renameSync(join(assembly, 'asset/a.mjs'), join(assembly, 'asset/b.mjs'))),
    hashAfter(() => symlinkSync('b.mjs', join(assembly, 'asset/c.mjs'))),
  ];
  expect(hashes[0]).toMatch(/^[\da-f]{64}\n$/);
  expect(hashes[1]).toBe(hashes[0]);
  expect(new Set(hashes).size).toBe(4);
  const check = () => spawnSync('.github/hash-assembly.sh', [assembly, hashes.at(-1)!.trim()]).status;
  expect(check()).toBe(0);
  writeFileSync(join(assembly, 'asset/b.mjs'), 'changed');
  expect(check()).toBe(1);
  writeFileSync(join(assembly, 'asset/b.mjs'), 'b');
  symlinkSync('asset', join(assembly, 'folder'));
  expect(check()).not.toBe(0);
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

test('the sandbox is off until its role exists, needs its label, and destroys the stage even if the tests fail', () => {
  const sandbox = readWorkflow('sandbox.yml');
  expect(sandbox).toContain(
    "    if: github.event.label.name == 'sandbox' && vars.AWS_SANDBOX_ROLE_ARN != ''\n    environment: sandbox\n",
  );
  const stage = '"PetStore-$STAGE" -c "stage=$STAGE" -c based-on=staging';
  const last = sandbox.split(/^ {6}- /m).at(-1);
  expect(last).toMatch(/^if: always\(\)\n/);
  expect(last).toContain(`cdk destroy ${stage} --force\n`);
  expect(sandbox).toContain(`cdk deploy ${stage} `);
  expect(sandbox).toContain('      STAGE: pr${{ github.event.number }}\n');
  expect(sandbox).toContain('run: node infra/operate/smoke.ts --stage "$STAGE"\n');
});

test.each([
  ['DETECTION_COMPLETE\tIN_SYNC\tNone', 0],
  ['DETECTION_COMPLETE\tDRIFTED\tNone', 1],
  ['DETECTION_FAILED\tUNKNOWN\tNo permission', 1],
])('if the comparison of production ends as %j, the workflow Drift ends with %d', (result, code) => {
  const [script] = jobsIn('drift.yml').flatMap(scriptsIn);
  const stub = `aws() { case $2 in detect-stack-drift) echo the-id ;; *detection-status) echo "$RESULT" ;; esac; }`;
  const env = { ...process.env, RESULT: result };
  expect(spawnSync('bash', ['-ec', `${stub}\n${script}`], { env }).status).toBe(code);
});
