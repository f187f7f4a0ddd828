import { expect, jest, test } from '@jest/globals';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { firstCollection } from '../collections/all.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { startLocalServiceOf } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyProject } from '../support/project-copy.ts';

const project = copyProject(temporaryFolder());
const data = join(project.folder, 'data');
mkdirSync(data);
// A synthesis is slow, so the copied project's app copies the shared assembly. Tests add code to this app in test.mjs.
const source = JSON.stringify((await sharedSynthesis()).assembly);
const copy = `import { cpSync } from 'node:fs';\ncpSync(${source}, process.env.CDK_OUTDIR, { recursive: true });`;
project.write('infra/app.ts', `${copy}\nawait import('../test.mjs');`);
project.write('test.mjs', '');

const { synthesizeIfChanged } = await import(join(project.folder, 'infra/synthesize.ts'));
const log = jest.spyOn(console, 'log').mockReturnValue();

/** Calls `synthesizeIfChanged`, and returns whether it synthesized the stacks. */
async function start(isForced = false): Promise<boolean> {
  await synthesizeIfChanged(join(data, 'cdk.out'), isForced);
  return log.mock.lastCall![0] === 'Synthesizing the stacks …';
}

test('npm start reuses the last assembly unless --synth is set', async () => {
  expect(await start()).toBe(true);
  for (const option of ['--verbose', '--synth']) {
    const service = await startLocalServiceOf(project.folder, '--data', data, option);
    const { status } = await service.request(firstCollection.path);
    expect([status, await service.stop()]).toEqual([200, 0]);
    expect(service.output()).toMatch(option === '--synth' ? /^Synthesizing/ : /^Reusing the last/);
  }
  // The next tests change the list of installed packages, so they must not use the real node_modules folder.
  project.write('infra/require-node.cjs', '');
  rmSync(join(project.folder, 'node_modules'));
  mkdirSync(join(project.folder, 'node_modules'));
});

const inputs = ['functions/added.ts', 'shared/names.ts', 'infra/stages.ts', 'cdk.json', 'tsconfig.json'];
const packages = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];

test.each([
  ...[...inputs, ...packages].map((file) => ({
    event: `a change of ${file}`,
    act: () => appendFileSync(join(project.folder, file), '\n'),
  })),
  { event: 'the removal of a source', act: () => rmSync(join(project.folder, 'functions/added.ts')) },
  { event: 'the removal of the assembly', act: () => rmSync(join(data, 'cdk.out'), { recursive: true }) },
  { event: 'an update of Node', act: () => Object.defineProperty(process, 'version', { value: 'v24.99.0' }) },
])('synthesizeIfChanged synthesizes once after $event', async ({ act }) => {
  act();
  expect([await start(), await start()]).toEqual([true, false]);
});

test('synthesizeIfChanged synthesizes again after a failure', async () => {
  project.write('test.mjs', 'console.error(Object.keys(process.env).join()); process.exit(1)');
  const message = 'The stacks cannot be synthesized:\nCDK_OUTDIR,CDK_CONTEXT_JSON';
  await expect(start(true)).rejects.toMatchObject({ name: 'UsageError', message });
  project.write('test.mjs', '');
  expect(await start()).toBe(true);
});

test('synthesizeIfChanged synthesizes again if a source changed during the last synthesis', async () => {
  project.write('test.mjs', "import { writeFileSync } from 'node:fs'; writeFileSync('shared/saved.ts', '')");
  await start(true);
  project.write('test.mjs', '');
  rmSync(join(project.folder, 'shared/saved.ts'));
  expect(await start()).toBe(true);
});
