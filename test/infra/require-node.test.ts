import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { done, type Outcome, errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const project = temporaryFolder();
const check = 'infra/require-node.cjs';
const advice = 'run npm ci, and start again through npm.';

/** Runs the check by a Node that takes itself for another version. Preloading it would be too early for that. */
function runAs(version: string, environment: Record<string, string> = {}): Promise<Outcome> {
  const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  const pretending = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  return runModule(check, [], { NODE_OPTIONS: pretending, ...environment });
}

test('every npm script that runs Node checks it and the packages first', () => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const commands = Object.values(scripts as Record<string, string>).flatMap((script) => script.split(' && '));
  const unchecked = commands.filter((one) => /^node (?!--require \.\/infra\/require-node\.cjs )/.test(one));
  expect(unchecked).toEqual([]);
});

describe('a Node that is too old', () => {
  test.each(['8.17.0', '23.11.1'])('is told to be %s, and what to do', async (version) => {
    expect(errorOutput(await runAs(version))).toBe(
      `Node 24 or newer is needed, and this is Node ${version} (${process.execPath}): ${advice}`,
    );
  });

  test('is told how to install another where npm runs no scripts of packages', async () => {
    const outcome = await runAs('20.20.2', { npm_config_ignore_scripts: 'true' });
    expect(errorOutput(outcome)).toContain(': run npm ci --ignore-scripts=false, ');
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

test.each(['24.0.0', '100.0.0'])('Node %s is new enough', async (version) => {
  expect(done(await runAs(version))).toBe('');
});

test('packages that are not installed are told in a sentence', async () => {
  mkdirSync(join(project, 'infra'));
  for (const file of [check, 'package.json']) cpSync(join(projectRoot, file), join(project, file));
  expect(errorOutput(await runModule(join(project, check), []))).toMatch(
    /^Packages are not installed \(@aws-lambda-powertools\/logger, \S+, \S+ …\): run npm ci, and start again through npm\.$/,
  );
});
