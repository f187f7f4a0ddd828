import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// Installing packages must run no code, and must install only what the lock files name with a hash. Otherwise, one
// replaced package could read the credentials of developers and workflows.

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

const projects = globSync('{package.json,test/*/package.json}').map((file) => ({
  folder: dirname(file),
  manifest: JSON.parse(read(file)),
}));
/** The packages in all lock files. Their `place` is a path such as `test/tools/node_modules/ajv`. */
const locked = projects.flatMap(({ folder }) => {
  const { packages } = JSON.parse(read(folder, 'package-lock.json'));
  const all = Object.entries<any>(packages).filter(([path]) => path !== '');
  return all.map(([path, entry]) => ({ place: join(folder, path), ...entry }));
});
const placesOf = (packages: { place: string }[]) => packages.map(({ place }) => place);

test('package.json names exact versions', () => {
  const ranges = projects.flatMap(({ folder, manifest }) =>
    Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies })
      .filter(([, version]) => !/^(?:\d+\.\d+\.\d+$|file:infra\/)/.test(version))
      .map(([name, version]) => `${join(folder, 'package.json')}: ${name} ${version}`),
  );
  expect(ranges).toEqual([]);
});

// Packages inside another package have no hash of their own, because the hash of the other package covers them. Packages
// from a Git repository or a folder have no hash either, so this test reports them, except infra/fallback-node.
test('lock files pin each package with a hash', () => {
  expect(locked.length).toBeGreaterThan(500);
  const unpinned = locked.filter(({ inBundle, integrity }) => !inBundle && !integrity?.startsWith('sha512-'));
  expect(placesOf(unpinned)).toEqual(['infra/fallback-node', 'node_modules/fallback-node']);
});

test('installing packages runs no scripts', () => {
  for (const { folder, manifest } of projects) {
    expect(read(folder, '.npmrc')).toMatch(/^ignore-scripts=true$/m);
    expect(Object.keys(manifest.scripts ?? {}).filter((name) => /install|prepare/.test(name))).toEqual([]);
    expect(manifest).not.toHaveProperty('allowScripts');
  }
});

// Without `libc`, npm would install the packages for both glibc and musl. Versions of npm before 11.11 remove it.
test('lock files say which C library a package needs, as npm 11.11 or newer writes them', () => {
  const unsaid = locked.filter(({ place, libc }) => /-(musl|gnu|glibc)$/.test(place) && !libc);
  expect(placesOf(unsaid)).toEqual([]);
});

// From the top level, npm would link a `node` that comes first in the PATH of npm scripts, even if it cannot run.
test('the packages with Node.js are in infra/fallback-node, from which npm update moves them', () => {
  const withNode = placesOf(locked.filter(({ bin }) => bin?.node));
  expect(withNode.length).toBeGreaterThan(0);
  const moved = withNode.filter((place) => !place.startsWith('infra/fallback-node/'));
  const repair =
    'npm uninstall fallback-node && npm install --save-dev --install-strategy=nested ./infra/fallback-node';
  expect(moved.map((place) => `${place} is at the top level. Run ${repair}`)).toEqual([]);
});
