import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changes, stagesWith } from './support/changed-stages.ts';
import { COMPLETE_RUN_LIMIT_MILLISECONDS } from './support/limits.ts';
import { startLocalServiceOf } from './support/local-service.ts';
import { codeBlocksIn, withChanges } from './support/markdown-code.ts';
import { copyRepository } from './support/project-copy.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

// These tests follow the two guides for resources in copies of the project. They use the code blocks of the guides.

const folder = temporaryFolder();
const COMMIT = 'git -c user.name=Jane -c user.email=jane@example.com commit --quiet -m "Copy the pet store"';

/** Files that are not pages, and in which docs/adapt.md leaves texts about pets for a person to change. */
const LEFT = [
  'LICENSE',
  'docs/pictures/cold-starts-dark.svg',
  'docs/pictures/cold-starts-light.svg',
  'docs/pictures/warm-requests-dark.svg',
  'docs/pictures/warm-requests-light.svg',
  'package.json',
  'test/bench/results.json',
];

type Project = Awaited<ReturnType<typeof copyRepository>>;

/** Creates the files of a guide, makes its changes, and runs its commands. Returns the output of failed commands. */
async function follow(project: Project, guide: string): Promise<string> {
  const failures: string[] = [];
  for (const { info, code } of codeBlocksIn(readFileSync(guide, 'utf8'))) {
    const [kind, target] = info.split(' ') as [string, string?];
    if (info === 'sh adapt') failures.push(await project.failureOf(code));
    else if (kind === 'diff') project.write(target!, withChanges(project.read(target!), code));
    else if (kind === 'ts') project.write(target!, code);
  }
  return failures.join('');
}

/** Runs a script with the service of a project. Returns the lists of collections before and after the script. */
async function serve(project: Project, names: string[], script: string) {
  const service = await startLocalServiceOf(project.folder, '--data', join(project.folder, 'data'));
  const readLists = () =>
    Promise.all(names.map(async (name) => (await service.request(`/${name}?limit=100`)).text()));
  const before = await readLists();
  const env = { BASE_URL: service.baseUrl, API_KEY: service.apiKey };
  const failure = await project.failureOf(script, env);
  const after = await readLists();
  return { before, failure, after, exitCode: await service.stop() };
}

/**
 * Expects that the service keeps its data when it is started again, with four list partitions instead of one, and that
 * it then passes the HTTP tests of items and of idempotency. `npm test` runs these tests with one list partition.
 */
async function expectToServe(project: Project, names: string[]): Promise<void> {
  project.write('infra/stages.ts', stagesWith());
  const seeds = names.map((name) => `npm run seed -- --collection ${name} --count 150`);
  const first = await serve(project, names, seeds.join(' && '));
  expect(first).toMatchObject({ failure: '', exitCode: 0 });
  project.write('infra/stages.ts', stagesWith(changes['listPartitions']!));
  const second = await serve(project, names, 'npm run test:http -- item idempotency');
  expect(second).toMatchObject({ before: first.after, failure: '', exitCode: 0 });
}

test(
  'a second resource can be added as docs/add-a-resource.md describes',
  async () => {
    const project = await copyRepository(folder);
    expect(await follow(project, 'docs/add-a-resource.md')).toBe('');
    const script = 'npm run format && npm run generate && npm run check && npm test';
    expect(await project.failureOf(script)).toBe('');
    await expectToServe(project, ['pets', 'categories']);
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);

test(
  'a service for another resource can be started as docs/adapt.md describes',
  async () => {
    const project = await copyRepository(folder);
    expect(await project.failureOf(COMMIT)).toBe('');
    expect(await follow(project, 'docs/add-a-resource.md')).toBe('');
    expect(await follow(project, 'docs/adapt.md')).toBe('');
    const grep = execFileSync('git', ['grep', '-IlE', '--untracked', '[Pp]et|PET'], {
      cwd: project.folder,
      encoding: 'utf8',
    });
    const left = grep.trim().split('\n');
    const pages = /^(?:README|CONTRIBUTING|docs\/[\w-]+)\.md$/;
    expect(left.filter((file) => !pages.test(file))).toEqual(LEFT);
    await expectToServe(project, ['categories']);
  },
  COMPLETE_RUN_LIMIT_MILLISECONDS,
);
