import { describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const folders = temporaryFolder();
const check = 'infra/require-node.cjs';
const scripts: Record<string, string> = JSON.parse(
  readFileSync(join(projectRoot, 'package.json'), 'utf8'),
).scripts;

/** An option by which Node takes itself for another version. */
function pretending(version: string): string {
  const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}

/** A Node before 24 that is installed outside of the project. */
function oldNode(): string | undefined {
  const searched = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((one) => !one.includes('node_modules'));
  return searched
    .map((one) => join(one, 'node'))
    .find((file) => {
      const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
      return Number(/^v(\d+)/.exec(stdout ?? '')?.[1]) < 24;
    });
}

test.each(Object.entries(scripts).filter(([, script]) => script.startsWith('node ')))(
  'npm run %s looks at Node and the packages first',
  (_name, script) => {
    expect(script).toMatch(/^node --require \.\/infra\/require-node\.cjs /);
  },
);

describe('a Node that is too old', () => {
  test.each(['8.17.0', '20.20.2', '23.11.1'])('is told to be %s, and what to do', async (version) => {
    // Run as itself: what is pretended comes too late for --require.
    const outcome = await runModule(check, [], { NODE_OPTIONS: pretending(version) });
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: `Node 24 or newer is needed, and this is Node ${version} (${process.execPath}): run npm ci, and start again through npm.\n`,
    });
  });

  const old = oldNode();
  const reason = old === undefined ? ' (not tried: there is none on this machine)' : '';
  function expectSentence(): void {
    const parameters = ['--require', `./${check}`, 'infra/local/main.ts'];
    const { status, stdout, stderr } = spawnSync(old!, parameters, { cwd: projectRoot, encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^Node 24 or newer is needed, and this is Node [^\n]+\n$/),
    ]);
  }
  (old === undefined ? test.skip : test)(
    `is told before it reads the first line of TypeScript${reason}`,
    expectSentence,
  );

  test('is told how to install another where npm runs no scripts of packages', async () => {
    const environment = { NODE_OPTIONS: pretending('20.20.2'), npm_config_ignore_scripts: 'true' };
    const { code, stderr } = await runModule(check, [], environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining(': run npm ci --ignore-scripts=false, ')]);
  });

  // What it cannot read it could not say anything about.
  test('can read the check', () => {
    const esbuild = createRequire(import.meta.url).resolve('esbuild/bin/esbuild');
    const [asOld, asNew] = ['es5', 'esnext'].map((target) =>
      execFileSync(esbuild, [check, `--target=${target}`], { cwd: projectRoot, encoding: 'utf8' }),
    );
    expect(asNew).toContain('npm ci');
    expect(asOld).toBe(asNew);
  });
});

test.each(['24.0.0', '25.1.0', '100.0.0'])('Node %s is new enough', async (version) => {
  expect(await runModule(check, [], { NODE_OPTIONS: pretending(version) })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('packages that are not installed are told in a sentence', async () => {
  const project = mkdtempSync(join(folders, 'project-'));
  mkdirSync(join(project, 'infra'));
  for (const file of [check, 'package.json']) cpSync(join(projectRoot, file), join(project, file));
  const outcome = await runModule(join(project, check), []);
  expect(outcome).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^Packages are not installed \(@aws-lambda-powertools\/logger, \S+, \S+ …\): run npm ci, and start again through npm\.\n$/,
    ),
  });
});
