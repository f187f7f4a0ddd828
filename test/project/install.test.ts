import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { commandEnvironment } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** Writes a project whose packages are folders, so that the installation needs no network. */
function createProject(): void {
  cpSync('.npmrc', join(folder, '.npmrc'));
  for (const name of ['runtime', 'development', 'node']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  }
  const manifest = {
    dependencies: { runtime: 'file:./runtime' },
    devDependencies: { development: 'file:./development' },
    optionalDependencies: { node: 'file:./node' },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

test('npm installs all packages even if it is configured to omit some', async () => {
  createProject();
  const env = commandEnvironment({ NODE_ENV: 'production', npm_config_omit: 'dev' });
  const parameters = ['install', '--offline', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', parameters, { cwd: folder, env });
  const installed = ['runtime', 'development', 'node'].filter((name) =>
    existsSync(join(folder, 'node_modules', name)),
  );
  expect(installed).toEqual(['runtime', 'development', 'node']);
});
