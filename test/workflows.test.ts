import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

interface Step {
  uses?: string;
  run?: string;
}

interface Job {
  needs?: string | string[];
  environment?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  steps: Step[];
}

interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  concurrency?: { group: string; 'cancel-in-progress': boolean };
  jobs: Record<string, Job>;
}

const projectRoot = fileURLToPath(new URL('..', import.meta.url));
const folder = `${projectRoot}.github/workflows/`;
const workflows = new Map(
  readdirSync(folder).map((name) => [name, parse(readFileSync(`${folder}${name}`, 'utf8')) as Workflow]),
);
const names = [...workflows.keys()];
const { scripts } = JSON.parse(readFileSync(`${projectRoot}package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};

function jobsOf(name: string): Job[] {
  return Object.values(workflows.get(name)!.jobs);
}

function stepsOf(name: string): Step[] {
  return jobsOf(name).flatMap(({ steps }) => steps);
}

function commandsOf({ steps }: Job): string[] {
  return steps.flatMap(({ run }) => run ?? []);
}

function expectInOrder(commands: string[], ...parts: string[]): void {
  const places = parts.map((part) => commands.findIndex((command) => command.includes(part)));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}

test('there are workflows for pull requests and for deployments', () => {
  expect(names.toSorted()).toEqual(['deploy.yml', 'pull-request.yml']);
});

describe.each(names)('%s', (name) => {
  test('pins every action to a commit', () => {
    const uses = stepsOf(name).flatMap((step) => step.uses ?? []);
    expect(uses).not.toEqual([]);
    expect(uses.filter((action) => !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  test('says in a comment which version each pin is', () => {
    const lines = readFileSync(`${folder}${name}`, 'utf8')
      .split('\n')
      .filter((line) => line.includes('uses:'));
    expect(lines.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test('may read the repository and nothing else, but for the tokens of jobs with an environment', () => {
    expect(workflows.get(name)!.permissions).toEqual({ contents: 'read' });
    for (const { environment, permissions } of jobsOf(name)) {
      expect(permissions).toEqual(environment ? { contents: 'read', 'id-token': 'write' } : undefined);
    }
  });

  test('runs only scripts that package.json has', () => {
    const called = stepsOf(name).flatMap(({ run = '' }) =>
      [...run.matchAll(/\bnpm run (?<script>[\w:-]+)/g)].map(({ groups }) => groups!.script!),
    );
    expect(called.filter((script) => !Object.hasOwn(scripts, script))).toEqual([]);
  });

  // Titles, branch names and the like are written by others; put into a script they are run.
  test('puts nothing into its scripts that others can choose', () => {
    const scriptsOfSteps = stepsOf(name).flatMap(({ run }) => run ?? []);
    expect(scriptsOfSteps.filter((run) => run.includes('${{'))).toEqual([]);
  });

  test('is never started with rights that a fork must not have', () => {
    expect(Object.keys(workflows.get(name)!.on)).not.toContain('pull_request_target');
    expect(Object.keys(workflows.get(name)!.on)).not.toContain('workflow_run');
  });

  test('lets no job run for hours', () => {
    for (const job of jobsOf(name)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
  });
});

describe('a pull request', () => {
  const { concurrency, jobs } = workflows.get('pull-request.yml')!;

  test('is checked and tested', () => {
    expect(commandsOf(jobs['test']!)).toContain('.ci/run');
  });

  test('shows what it changes in the templates', () => {
    const { steps } = jobs['templates']!;
    expectInOrder(commandsOf(jobs['templates']!), 'assemblies/head', 'assemblies/base', 'template-diff.sh');
    expect(steps.at(-1)!.uses).toMatch(/^actions\/upload-artifact@/);
  });

  test('cancels its superseded runs', () => {
    expect(concurrency!['cancel-in-progress']).toBe(true);
  });
});

describe('a deployment', () => {
  const { on, concurrency, jobs } = workflows.get('deploy.yml')!;
  const { build, staging, production } = jobs;

  test('starts from main alone', () => {
    expect(on).toEqual({ push: { branches: ['main'] }, workflow_dispatch: null });
  });

  test('waits for the one before it and is never cancelled', () => {
    expect(concurrency).toEqual({ group: 'deploy', 'cancel-in-progress': false });
  });

  test('tests and synthesizes before anything is deployed', () => {
    expectInOrder(commandsOf(build!), '.ci/run', 'cdk synth');
    expect(staging!.needs).toBe('build');
  });

  test('runs the HTTP tests against staging once it is deployed', () => {
    expect(staging!.environment).toBe('staging');
    expectInOrder(commandsOf(staging!), 'cdk deploy PetStore-staging', 'npm run smoke -- --stage staging');
  });

  test('reaches production after those tests and an approval', () => {
    expect(production!.needs).toBe('staging');
    expect(production!.environment).toBe('production');
    expect(commandsOf(production!).join('\n')).toContain('cdk deploy PetStore-production');
    const deployers = Object.keys(jobs).filter((job) =>
      commandsOf(jobs[job]!).some((run) => run.includes('PetStore-production')),
    );
    expect(deployers).toEqual(['production']);
  });

  // Synthesized anew it could differ from what was tested; asked a question it would wait for ever.
  test('deploys to both stages what was synthesized once, without asking', () => {
    for (const job of [staging!, production!]) {
      const deploys = commandsOf(job).filter((run) => run.includes('cdk deploy'));
      expect(deploys).toHaveLength(1);
      expect(deploys[0]).toContain('--app cdk.out --require-approval never');
      expect(commandsOf(job).join('\n')).not.toContain('cdk synth');
    }
  });

  // Scripts of packages run in `npm ci`.
  test('gets its credentials once everything is installed', () => {
    for (const { steps } of [staging!, production!]) {
      const order = steps.map(({ uses = '', run = '' }) => uses.split('@')[0] || run.split(' ', 2).join(' '));
      expect(order.indexOf('npm ci')).toBeGreaterThan(-1);
      expect(order.indexOf('npm ci')).toBeLessThan(order.indexOf('aws-actions/configure-aws-credentials'));
    }
  });
});
