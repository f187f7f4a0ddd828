import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { projectRoot } from '../../../infra/command.ts';
import { bundlingOptions } from '../../../infra/stack/bundling.ts';
import { synthesize } from '../../../infra/synthesize.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { moduleOf } from '../../support/invoke.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { copyProject } from '../../support/project-copy.ts';
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
  const limit = name === 'authorizer' ? 220_000 : 260_000;
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

// The name of a bundle must change whenever a source changes, because the name identifies the source map.
test('a new comment in a source changes only the name of the bundle that contains the source', () => {
  const project = copyProject(folder);
  const [module = ''] = Object.keys(operations).map(moduleOf);
  const source = `functions/${module}.ts`;
  project.write(source, `// comment\n${project.read(source)}`);
  // esbuild runs in a new process, because the exports of node:process depend on the modules that a process has loaded.
  // The process runs a file, because `--eval` adds an export to node:process, which can change names in minified bundles.
  const script = `import { bundleFunctions } from './infra/stack/bundling.ts'; await bundleFunctions('built');`;
  project.write('build.ts', script);
  execFileSync(process.execPath, ['build.ts'], { cwd: project.folder });
  const changed = bundles.filter(([name, file]) => {
    const parent = join(project.folder, 'built', name);
    const [built = ''] = readdirSync(parent);
    expect(readFileSync(join(parent, built))).toEqual(readFileSync(file));
    return built !== basename(file);
  });
  expect(changed.map(([name]) => name)).toEqual([module]);
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
