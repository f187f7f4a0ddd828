import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Job {
  needs?: string;
  environment?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  steps: { uses?: string; run?: string }[];
}

interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  concurrency?: { group: string; 'cancel-in-progress': boolean };
  jobs: Record<string, Job>;
}

const folder = new URL('../.github/workflows/', import.meta.url);
const sources = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
);

/** Returns the commands and actions in the steps of the given job, without the versions of the actions. */
function stepsOf({ steps }: Job): string[] {
  return steps.map(({ run, uses }) => run ?? uses!.split('@')[0]!);
}

describe.each([...sources])('%s', (_name, source) => {
  const { on, permissions, jobs } = parse(source) as Workflow;

  test("pins every action to a commit and names the action's version in a comment", () => {
    const uses = source.split('\n').filter((line) => line.includes('uses:'));
    expect(uses).not.toEqual([]);
    const pinned = /uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(uses.filter((line) => !pinned.test(line))).toEqual([]);
  });

  test('grants write access only to id tokens in jobs with an environment', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const { environment, permissions: ofJob } of Object.values(jobs)) {
      expect(ofJob).toEqual(environment ? { contents: 'read', 'id-token': 'write' } : undefined);
    }
  });

  test('has no trigger that gives forks write access', () => {
    expect(Object.keys(on)).not.toContain('pull_request_target');
    expect(Object.keys(on)).not.toContain('workflow_run');
  });

  test('limits each job to one hour', () => {
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
  });

  // Expressions can insert titles and branch names into scripts, and anyone can put shell commands into these names.
  test('runs only scripts in package.json and uses no expressions in commands', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    const commands = Object.values(jobs).flatMap(stepsOf);
    expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
    for (const command of commands) {
      for (const [, script] of command.matchAll(/\bnpm run ([\w:-]+)/g))
        expect(scripts).toHaveProperty([script!]);
    }
  });
});

test('the pull request workflow runs the checks and compares the templates with the base', () => {
  const { jobs, concurrency } = parse(sources.get('pull-request.yml')!) as Workflow;
  expect(concurrency?.['cancel-in-progress']).toBe(true);
  expect(jobs['templates']!.steps.at(-1)!.uses).toMatch(/^actions\/upload-artifact@/);
  expect(stepsOf(jobs['test']!)).toContain('.ci/run');
  expect(stepsOf(jobs['templates']!).join('\n')).toMatch(
    /assemblies\/head[^]*assemblies\/base[^]*template-diff\.sh/,
  );
});

describe('the deployment workflow', () => {
  const { on, concurrency, jobs } = parse(sources.get('deploy.yml')!) as Workflow;
  const { build, staging, production } = jobs;

  test('runs only on main and does not cancel a deployment in progress', () => {
    expect(on).toEqual({ push: { branches: ['main'] }, workflow_dispatch: null });
    expect(concurrency).toEqual({ group: 'deploy', 'cancel-in-progress': false });
  });

  test('runs the checks, then deploys staging, and then deploys production', () => {
    expect(Object.entries(jobs).map(([name, { needs, environment }]) => [name, needs, environment])).toEqual([
      ['build', undefined, undefined],
      ['staging', 'build', 'staging'],
      ['production', 'staging', 'production'],
    ]);
    expect(stepsOf(build!).join('\n')).toMatch(/\.ci\/run\n[^]*cdk synth/);
    expect(stepsOf(staging!).at(-1)).toBe('npm run smoke -- --stage staging');
  });

  // `npm ci` runs install scripts of packages, so a job must get its credentials after `npm ci`.
  test.each(['staging', 'production'])('deploys the assembly from the build job to %s', (stage) => {
    const steps = stepsOf(stage === 'staging' ? staging! : production!);
    const text = steps.join('\n');
    expect(text).toMatch(
      /^npm ci$[^]*^actions\/download-artifact$[^]*^aws-actions\/configure-aws-credentials$[^]*deploy/m,
    );
    expect(text).not.toContain('cdk synth');
    const deploys = steps.filter((step) => step.includes('cdk deploy'));
    expect(deploys).toEqual([
      expect.stringContaining(`cdk deploy PetStore-${stage} --app cdk.out --require-approval never`),
    ]);
  });
});
