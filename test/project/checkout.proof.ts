import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { allParts, copyProject } from '../support/project-copy.ts';
import { commandEnvironment, outcomeOf } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const onWindows = join(folder, 'windows');
const onLinux = join(folder, 'linux');

/** Runs a program in a folder. Returns an empty string, or the program's output if it fails. */
async function failureOf(cwd: string, program: string, ...parameters: string[]): Promise<string> {
  // Commands in the clone must not use this run's shared synthesis, because the clone's sources can differ.
  // The CDK would also read the developer's ~/.cdk.json.
  const home = program === process.execPath ? { HOME: folder } : {};
  const { TEST_RUN_FOLDER: _folder, NODE_ENV: _environment, ...env } = commandEnvironment(home);
  const options = { cwd, env, maxBuffer: Infinity };
  const { code, stdout, stderr } = await outcomeOf(promisify(execFile)(program, parameters, options));
  return code === 0 ? '' : `${stdout}${stderr}`.slice(-2_000);
}

async function clone(target: string, lineEnds: string): Promise<void> {
  const settings = ['-c', `core.autocrlf=${lineEnds === 'crlf'}`, '-c', `core.eol=${lineEnds}`];
  expect(await failureOf('.', 'git', 'clone', '--quiet', ...settings, '.', target)).toBe('');
  symlinkSync(resolve('node_modules'), join(target, 'node_modules'), 'junction');
}

/** Returns the hashes of all files that a deployment of the clone uploads, by stack. */
async function assetHashes(project: string): Promise<Record<string, string[]>> {
  const parameters = ['synth', '--quiet', '-c', 'unchecked=true', '--output', 'cdk.out'];
  expect(await failureOf(project, process.execPath, 'node_modules/aws-cdk/bin/cdk', ...parameters)).toBe('');
  const manifests = globSync('cdk.out/*.assets.json', { cwd: project }).toSorted();
  return Object.fromEntries(
    manifests.map((file) => {
      const { files } = JSON.parse(readFileSync(join(project, file), 'utf8'));
      return [file, Object.keys(files).toSorted()];
    }),
  );
}

// These tests clone the last commit twice: with the settings of Git on Linux, and with the default settings of Git for
// Windows, which convert line ends to CRLF unless .gitattributes prevents the conversion.
(existsSync('.git') ? describe : describe.skip)('in a clone of the Git repository,', () => {
  beforeAll(async () => {
    await Promise.all([clone(onWindows, 'crlf'), clone(onLinux, 'lf')]);
  });

  test('no text file in a clone on Windows contains a CR', () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: onWindows, encoding: 'utf8' }).split('\0');
    const texts = files.filter((file) => file !== '' && !file.endsWith('.png'));
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter((file) => readFileSync(join(onWindows, file)).includes('\r'))).toEqual([]);
  });

  test('npm run check passes in a clone on Windows', async () => {
    expect(await failureOf(onWindows, 'npm', 'run', 'check')).toBe('');
  });

  test('the shell scripts in docs and .ci have no syntax errors in a clone on Windows', async () => {
    const scripts = [
      '.ci/install',
      '.ci/run',
      '.ci/nightly',
      ...globSync('{docs,test}/**/*.sh', { cwd: onWindows }),
    ];
    for (const file of scripts) expect(await failureOf(onWindows, 'bash', '-n', file)).toBe('');
  });

  test('a deployment from a clone on Windows uploads the same files as one from Linux', async () => {
    const [hashes, hashesOnLinux] = await Promise.all([assetHashes(onWindows), assetHashes(onLinux)]);
    expect(Object.values(hashes).flat().length).toBeGreaterThan(4);
    expect(hashes).toEqual(hashesOnLinux);
  });
});

describe('in a folder with special characters and the settings of other projects,', () => {
  const parent = join(folder, "c++ [old] (1) {a,b} it's! #2 50%");
  mkdirSync(parent);
  const project = copyProject(parent, allParts());
  writeFileSync(join(parent, '.editorconfig'), '[*]\nindent_style = tab\nend_of_line = crlf\n');
  // This is the manifest of a project without packages. Yarn's Plug'n'Play also applies it to the folders below, in
  // which esbuild would then find no packages.
  const manifest = { packageLocation: './', packageDependencies: [], linkType: 'SOFT' };
  writeFileSync(
    join(parent, '.pnp.data.json'),
    JSON.stringify({ packageRegistryData: [[null, [[null, manifest]]]] }),
  );

  test('npm test and npm run proofs find the tests', async () => {
    expect(await project.failureOf('npm test -- --listTests | grep -q test/docs/commands.test.ts')).toBe('');
    expect(
      await project.failureOf('npm run proofs -- --listTests | grep -q test/project/checkout.proof.ts'),
    ).toBe('');
  });

  test('npm run format changes no file', async () => {
    expect(await project.failureOf('npx oxfmt --check')).toBe('');
  });

  test('the functions are bundled', async () => {
    const script = `import { bundleFunctions } from './infra/stack/bundling.ts'; await bundleFunctions('built');`;
    project.write('build.ts', script);
    expect(await project.failureOf('node build.ts')).toBe('');
  });
});

test('npm installs all packages even if it is configured to omit some', async () => {
  // The packages are folders, so that the installation needs no network.
  const project = join(folder, 'omitting');
  const names = ['runtime', 'development', 'node'];
  for (const name of names) {
    mkdirSync(join(project, name), { recursive: true });
    writeFileSync(join(project, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  }
  cpSync('.npmrc', join(project, '.npmrc'));
  const manifest = {
    dependencies: { runtime: 'file:./runtime' },
    devDependencies: { development: 'file:./development' },
    optionalDependencies: { node: 'file:./node' },
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  const env = commandEnvironment({ NODE_ENV: 'production', npm_config_omit: 'dev' });
  const parameters = ['install', '--offline', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', parameters, { cwd: project, env });
  expect(names.filter((name) => existsSync(join(project, 'node_modules', name)))).toEqual(names);
});
