import { beforeEach, expect, jest, test } from '@jest/globals';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyProject } from '../support/project-copy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// A copy of the project, because the tests change its sources. Each test replaces the synthesis, which is slow.
const project = copyProject(temporaryFolder(), ['cdk.json', 'package.json', 'functions', 'infra', 'shared']);
const file = (path: string) => join(project.folder, path);
const assembly = file('data/cdk.out');
const change = (path: string) => () => appendFileSync(file(path), '\n');
const { synthesize, synthesizeIfChanged } = await import(file('infra/synthesize.ts'));
jest.spyOn(console, 'log').mockReturnValue();
// The real node_modules folder must not change.
project.write('infra/require-node.cjs', '');
rmSync(file('node_modules'));
mkdirSync(file('node_modules'));

const run = jest.fn<() => Promise<void>>();
beforeEach(() => {
  run.mockReset().mockImplementation(async () => {
    mkdirSync(assembly, { recursive: true });
  });
});

/** Calls `synthesizeIfChanged` as `npm start` does, and returns whether it synthesized the stacks. */
async function start(isForced = false): Promise<boolean> {
  const earlier = run.mock.calls.length;
  await synthesizeIfChanged(assembly, isForced, run);
  return run.mock.calls.length > earlier;
}

test('npm start synthesizes the stacks once after each change that can affect them, and always with --synth', async () => {
  const changes: Record<string, () => void> = {
    'the first start': () => {},
    'a new source': change('functions/added.ts'),
    'a removed source': () => rmSync(file('functions/added.ts')),
    'a change of a shared source': change('shared/names.ts'),
    'a change of the settings': change('infra/stages.ts'),
    'a change of the CDK’s settings': change('cdk.json'),
    'other packages': change('node_modules/.package-lock.json'),
    'a removed assembly': () => rmSync(assembly, { recursive: true }),
    'another version of Node': () => Object.defineProperty(process, 'version', { value: 'v24.99.0' }),
  };
  const syntheses: Record<string, boolean[]> = {};
  for (const [what, act] of Object.entries(changes)) {
    act();
    syntheses[what] = [await start(), await start()];
  }
  expect(syntheses).toEqual(Object.fromEntries(Object.keys(changes).map((what) => [what, [true, false]])));
  expect(await start(true)).toBe(true);
});

test('npm start synthesizes the stacks again after a failure', async () => {
  await start();
  run.mockRejectedValueOnce(new Error('failed'));
  await expect(start(true)).rejects.toThrow('failed');
  expect(await start()).toBe(true);
});

test('npm start synthesizes the stacks again if a source changed during the last synthesis', async () => {
  run.mockImplementationOnce(async () => {
    mkdirSync(assembly, { recursive: true });
    writeFileSync(file('shared/saved.ts'), '');
  });
  await start(true);
  rmSync(file('shared/saved.ts'));
  expect(await start()).toBe(true);
});

test('a failed synthesis reports its output, and its app gets no variables of npm start', async () => {
  project.write('infra/app.ts', 'console.error(Object.keys(process.env).join());\nprocess.exit(1);');
  const message = 'The stacks cannot be synthesized:\nCDK_OUTDIR,CDK_CONTEXT_JSON';
  await expect(synthesize(assembly)).rejects.toMatchObject({ name: 'UsageError', message });
});
