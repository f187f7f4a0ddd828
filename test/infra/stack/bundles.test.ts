import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../infra/command.ts';
import { sourceMapsFolder } from '../../../infra/source-maps.ts';
import { bundlingOptions, handlerModule } from '../../../infra/stack/bundling.ts';
import { environmentVariables } from '../../../shared/names.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { functionNames, readableTemplate } from '../../support/stack-template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { copyProject } from '../local/project-copy.ts';

const folder = temporaryFolder();
const { assembly } = await sharedSynthesis();
const { Resources } = readableTemplate('staging');
/** The name of each function's module, and the file that contains the function's bundle. */
const bundles = functionNames.map((name): [string, string] => {
  const { Code, Handler } = Resources[name].Properties;
  const file = Handler.replace(/handler$/, 'mjs');
  return [handlerModule(Handler), join(assembly, `asset.${Code.S3Key.replace('.zip', '')}`, file)];
});

// A cold start reads and compiles the complete bundle, so clients wait longer for a larger bundle. The limits have room for
// updates of packages, but not for another package of the size of an SDK client.
test.each(bundles)('the bundle of %s is one file within the size limit', (name, file) => {
  expect(readdirSync(dirname(file))).toEqual([basename(file)]);
  const limit = name === 'authorizer' ? 180_000 : 225_000;
  const { size } = statSync(file);
  const problem =
    `The bundle of ${name} has ${size} bytes, which is more than ${limit}. Larger bundles make cold starts slower. ` +
    'Check which package was added. To keep the package, measure cold starts with npm run bench and raise the limit.';
  expect(size > limit ? [problem] : []).toEqual([]);
});

/** Matches modules of event streams, of nested package copies, and of SDK defaults that `sdkSettings` replaces. */
const UNWANTED =
  /\/(?:credential-provider-(?!env\/)|dynamodb-codec|nested-clients)|\/event-streams\/|node_modules\/.*node_modules\//;

test.each(bundles)('the bundle of %s contains no unwanted module', (_name, file) => {
  const map = readFileSync(join(assembly, sourceMapsFolder, `${basename(file)}.map`), 'utf8');
  const { sources }: { sources: string[] } = JSON.parse(map);
  expect(sources).toContainEqual(expect.stringMatching(/client-dynamodb.*\/runtimeConfig\.js$/));
  expect(sources.filter((source) => UNWANTED.test(source))).toEqual([]);
});

// The name of a bundle must change whenever a source changes, because the name identifies the source map.
test('a new comment in a source changes only the name of the bundle that contains the source', () => {
  const project = copyProject(folder);
  project.write('functions/get-pet.ts', `// comment\n${project.read('functions/get-pet.ts')}`);
  // Runs esbuild in a new process, because the exports of node:process depend on the modules that a process has loaded.
  const script = `import { bundleFunctions } from './infra/stack/bundling.ts'; await bundleFunctions('built');`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: project.folder });
  const changed = bundles.filter(([name, file]) => {
    const parent = join(project.folder, 'built', name);
    const [built = ''] = readdirSync(parent);
    expect(readFileSync(join(parent, built))).toEqual(readFileSync(file));
    return built !== basename(file);
  });
  expect(changed.map(([name]) => name)).toEqual(['get-pet']);
});

// Functions with the following mistakes would fail on AWS. esbuild replaces a missing export with `undefined`. Bundles
// omit packages that are imported dynamically.
test.each([
  [
    'uses a missing export of a Node.js module',
    `import * as path from 'node:path'; export const handler = path.missing;`,
    /"missing" .* "node-modules:node:path"/,
  ],
  [
    'imports a package dynamically',
    `export const handler = () => import('@smithy/core/event-streams');`,
    'imports @smithy/core/event-streams dynamically',
  ],
])('bundling fails if a module %s', async (_what, contents, message) => {
  const stdin = { contents, resolveDir: projectRoot };
  const bundled = build({ ...bundlingOptions, stdin, write: false, logLevel: 'silent' });
  await expect(bundled).rejects.toThrow(message);
});

test('every bundle exports only the handler and loads few Node.js modules', () => {
  const script = `
    const ownModules = process.moduleLoadList.length;
    const exported = [];
    for (const url of process.argv.slice(1)) {
      const { handler, ...rest } = await import(url);
      exported.push([typeof handler, Object.keys(rest)]);
    }
    console.log(JSON.stringify({ exported, loaded: process.moduleLoadList.slice(ownModules) }));`;
  const urls = bundles.map(([, file]) => pathToFileURL(file).href);
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script, ...urls], {
    // Omits the environment of this process, because a function has only the variables that Lambda or the stack sets.
    env: {
      AWS_REGION: 'eu-central-1',
      // Enables priming, which loads further modules. Its database requests fail, because port 1 is closed.
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_ENDPOINT_URL_DYNAMODB: 'https://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'nobody',
      AWS_SECRET_ACCESS_KEY: 'none',
      ...Object.fromEntries(Object.values(environmentVariables).map((name) => [name, '1'])),
    },
    encoding: 'utf8',
  });
  const { exported, loaded } = JSON.parse(output);
  expect(exported).toEqual(urls.map(() => ['function', []]));
  // Each module that Node.js loads makes cold starts slower. Without the plugin `node-modules`, there are some 120 modules.
  const most = 100;
  const problem =
    `The bundles load ${loaded.length} modules of Node.js, which is more than ${most} and makes cold starts slower. ` +
    'Check which import was added, and whether the plugin `node-modules` still works.';
  expect(loaded.length > most ? [problem] : []).toEqual([]);
  // A bundle that reads all exports of `node:http` or `node:process` would load one of these slow modules.
  const costly = ['internal/deps/undici/undici', 'internal/process/report'];
  expect(costly.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
});
