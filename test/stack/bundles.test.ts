import { expect, test } from '@jest/globals';
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { projectRoot } from '../../infra/command.ts';
import { bundlingOptions } from '../../infra/stack/bundling.ts';
import { synthesize } from '../../infra/synthesize.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { bundles } from './bundle-files.ts';

const folder = temporaryFolder();

test.each(bundles)('the folder of %s contains only the bundle', (_name, file) => {
  expect(readdirSync(dirname(file))).toEqual([basename(file)]);
});

test.each(bundles)('the bundle of %s exports only the handler', async (_name, file) => {
  expect(Object.keys(await import(file))).toEqual(['handler']);
});

// A cold start reads and compiles the complete bundle, so clients wait longer for a larger bundle. The limit has room for
// updates of packages, but not for another client of the SDK.
test.each(bundles)('the bundle of %s is within the size limit', (name, file) => {
  const limit = name === 'authorizer' ? 500_000 : 600_000;
  const { size } = statSync(file);
  const problem =
    `The bundle of ${name} has ${size} bytes, which is more than ${limit}. Larger bundles make cold starts slower. ` +
    'Check which package was added. To keep the package, measure cold starts with npm run bench and raise the limit.';
  expect(size > limit ? [problem] : []).toEqual([]);
});

// The functions would fail on AWS if the SDK used the module that an empty one replaces.
test('bundling fails if a module imports event streams statically', async () => {
  const contents = `import { EventStreamSerde } from '@smithy/core/event-streams'; export const handler = EventStreamSerde;`;
  const stdin = { contents, resolveDir: projectRoot };
  const bundled = build({ ...bundlingOptions, stdin, write: false, logLevel: 'silent' });
  await expect(bundled).rejects.toThrow('No matching export in "shared/storage/event-streams.ts"');
});

test('every user can read a bundle, even if the operator allows no other user to read new files', async () => {
  const assembly = join(folder, 'cdk.out');
  const umask = process.umask(0o077);
  const synthesis = synthesize(assembly);
  process.umask(umask);
  await synthesis;
  const assets = readdirSync(assembly).filter((name) => name.startsWith('asset.'));
  const files = assets.flatMap((name) => readdirSync(join(assembly, name)).map((file) => join(name, file)));
  expect(files.length).toBeGreaterThanOrEqual(bundles.length);
  const modes = files.map((file) => (statSync(join(assembly, file)).mode & 0o777).toString(8));
  expect(new Set(modes)).toEqual(new Set(['644']));
});
