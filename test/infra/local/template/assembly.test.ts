import { expect, jest, test } from '@jest/globals';
import { appendFileSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../../../support/assembly.ts';
import { startLocalServiceOf } from '../../../support/local-service.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { copyProject } from '../watch/project-copy.ts';

const project = copyProject(temporaryFolder());
const data = join(project.folder, 'data');
mkdirSync(data);
// Its app copies the assembly of all tests, and then does what a test wants it to.
const source = JSON.stringify((await sharedSynthesis()).assembly);
const copy = `import { cpSync } from 'node:fs';\ncpSync(${source}, process.env.CDK_OUTDIR, { recursive: true });`;
project.write('infra/app.ts', `${copy}\nawait import('../then.mjs');`);
project.write('then.mjs', '');

const { synthesizeIfChanged } = await import(join(project.folder, 'infra/local/template/assembly.ts'));
const log = jest.spyOn(console, 'log').mockReturnValue();

/** @returns whether the assembly was synthesized. */
async function start(isForced = false): Promise<boolean> {
  await synthesizeIfChanged(join(data, 'cdk.out'), isForced);
  return log.mock.lastCall![0] === 'Synthesizing the stacks …';
}

test('npm start reuses the assembly, and with --synth does not', async () => {
  expect(await start()).toBe(true);
  for (const option of ['--verbose', '--synth']) {
    const service = await startLocalServiceOf(project.folder, '--data', data, option);
    const { status } = await service.request('/pets');
    expect([status, await service.stop()]).toEqual([200, 0]);
    expect(service.output()).toMatch(option === '--synth' ? /^Synthesizing/ : /^Nothing changed since/);
  }
  // The other tests need no package, but a list of them that they may change.
  project.write('infra/require-node.cjs', '');
  rmSync(join(project.folder, 'node_modules'));
  mkdirSync(join(project.folder, 'node_modules'));
});

const changes: Record<string, (what: string) => void> = {
  'a change of': (file) => appendFileSync(join(project.folder, file), '\n'),
  'the removal of': (file) => rmSync(globSync(join(project.folder, file))[0]!),
  'a run by': (value) => Object.defineProperty(process, 'version', { value }),
};
const inputs = ['functions/added.ts', 'shared/names.ts', 'infra/stages.ts', 'cdk.json', 'tsconfig.json'];
const packages = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
const outputs = ['cdk.out/PetStore-staging.template.json', 'cdk.out/added.mjs', 'cdk.out.digest'];

test.each([
  ...[...inputs, ...packages].map((file) => ['a change of', file]),
  ...outputs.map((file) => ['a change of', join('data', file)]),
  ['the removal of', 'functions/added.ts'],
  ['the removal of', 'data/cdk.out/asset.*/index.mjs'],
  ['a run by', 'v24.99.0'],
])('is synthesized once after %s %s', async (change, what) => {
  changes[change]!(what);
  expect([await start(), await start()]).toEqual([true, false]);
});

test('is synthesized again if that failed, which no environment variable has a part in', async () => {
  project.write('then.mjs', 'console.error(Object.keys(process.env).join()); process.exit(1)');
  const message = 'The stacks cannot be synthesized:\nCDK_OUTDIR,CDK_CONTEXT_JSON';
  await expect(start(true)).rejects.toMatchObject({ name: 'UsageError', message });
  project.write('then.mjs', '');
  expect(await start()).toBe(true);
});

test('is synthesized again if a source was saved meanwhile, even if that is undone', async () => {
  project.write('then.mjs', "import { writeFileSync } from 'node:fs'; writeFileSync('shared/saved.ts', '')");
  await start(true);
  project.write('then.mjs', '');
  rmSync(join(project.folder, 'shared/saved.ts'));
  expect(await start()).toBe(true);
});
