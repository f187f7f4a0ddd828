import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { done, type Outcome, errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
mkdirSync(join(project, 'infra'));
const check = 'infra/require-node.cjs';
const { scripts, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const advice = 'Run npm ci and run the npm script again.';

function runAs(version: string, environment: Record<string, string> = {}): Promise<Outcome> {
  const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  return runModule(check, [], { NODE_OPTIONS: preload, ...environment });
}

test('every node command in npm scripts and in cdk.json loads require-node.cjs', () => {
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const commands = [app, ...Object.values<string>(scripts)].flatMap((script) => script.split(' && '));
  const unchecked = commands.filter((one) => /^node (?!--require \.\/infra\/require-node\.cjs )/.test(one));
  expect(unchecked).toEqual([]);
});

test('package.json, workflows, infra and benchmarks specify the same major version of Node.js', () => {
  const major = parseInt(devDependencies.node);
  const version = /(?<=NODEJS_|nodejs|'node|node-version: |@types\/node": ")\d+(?=_X|\.x|'|\n|\.)/g;
  const files = globSync('{package.json,.github/workflows/*,infra/**/*.ts,test/bench/*.ts}');
  const found = files.flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(version), ([one]) => `${file}: ${one}`),
  );
  expect(found.filter((one) => !one.endsWith(`: ${major}`))).toEqual([]);
});

// This test runs a faulty infra/stages.ts directly, because every command that imports the file fails in the same way.
test('a missing comma in infra/stages.ts is reported in one line', async () => {
  const file = join(project, 'infra/stages.ts');
  writeFileSync(file, 'export const stages = {\n  one: {}\n  two: {},\n};\n');
  expect(errorOutput(await runModule(file, [], { NODE_OPTIONS: `--require=${resolve(check)}` }))).toBe(
    "infra/stages.ts, line 3: Expected ',', got 'ident'.",
  );
});

describe('require-node.cjs', () => {
  test.each(['8.17.0', '23.11.1'])('rejects Node %s', async (version) => {
    expect(errorOutput(await runAs(version))).toBe(
      `Node 24 or newer is required, but this is Node ${version} (${process.execPath}). ${advice}`,
    );
  });

  test('recommends npm ci --ignore-scripts=false if install scripts are disabled', async () => {
    const outcome = await runAs('20.20.2', { npm_config_ignore_scripts: 'true' });
    expect(errorOutput(outcome)).toContain('. Run npm ci --ignore-scripts=false and ');
  });

  test('uses no syntax that is newer than ES5', () => {
    const esbuild = createRequire(import.meta.url).resolve('esbuild/bin/esbuild');
    const [asOld, asNew] = ['es5', 'esnext'].map((target) =>
      execFileSync(esbuild, [check, `--target=${target}`], { encoding: 'utf8' }),
    );
    expect(asNew).toContain('npm ci');
    expect(asOld).toBe(asNew);
  });

  test.each(['24.0.0', '100.0.0'])('accepts Node %s', async (version) => {
    expect(done(await runAs(version))).toBe('');
  });

  test('lists missing packages', async () => {
    for (const file of [check, 'package.json']) cpSync(file, join(project, file));
    expect(errorOutput(await runModule(join(project, check), []))).toMatch(
      /^Packages are not installed \(@aws-lambda-powertools\/logger, \S+, \S+ …\)\. Run npm ci and run the npm script again\.$/,
    );
  });
});
