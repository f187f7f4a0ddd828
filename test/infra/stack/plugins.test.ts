import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../infra/command.ts';
import { sourceMapsFolder } from '../../../infra/source-maps.ts';
import { bundlingOptions } from '../../../infra/stack/bundling.ts';
import { environmentVariables } from '../../../shared/names.ts';
import { bundles } from './bundle-files.ts';

// These tests check what infra/stack/plugins.ts and shared/storage/sdk.ts achieve. docs/decisions.md, "SDK settings and
// bundling plugins", describes how to do without the code in these two files and without this file.

// A cold start reads and compiles the complete bundle, so clients wait longer for a larger bundle. The limit has room for
// updates of packages, but not for another package of the size of an SDK client.
test.each(bundles)('the bundle of %s is within the size limit', (name, file) => {
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
  const map = readFileSync(join(dirname(file), '..', sourceMapsFolder, `${basename(file)}.map`), 'utf8');
  const { sources }: { sources: string[] } = JSON.parse(map);
  expect(sources).toContainEqual(expect.stringMatching(/client-dynamodb.*\/runtimeConfig\.js$/));
  expect(sources.filter((source) => UNWANTED.test(source))).toEqual([]);
});

// Functions with the following mistakes would fail on AWS, because esbuild replaces a missing export with `undefined`, and
// because bundles omit packages that are imported dynamically.
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

test.each(bundles)('%s loads none of the modules of Node.js that are slow to load', (_name, file) => {
  const script = `
    await import(process.argv[1]);
    console.log(JSON.stringify(process.moduleLoadList));
    process.exit(); // The timers of the failed connection would keep the process running.`;
  const output = execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', script, pathToFileURL(file).href],
    {
      // The environment of this process is omitted, because a function has only the variables of Lambda and the stack.
      env: {
        AWS_REGION: 'eu-central-1',
        // This variable enables priming, which loads further modules. Its requests fail, because port 1 is closed.
        AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
        AWS_ENDPOINT_URL_DYNAMODB: 'https://127.0.0.1:1',
        AWS_ACCESS_KEY_ID: 'nobody',
        AWS_SECRET_ACCESS_KEY: 'none',
        ...Object.fromEntries(Object.values(environmentVariables).map((name) => [name, '1'])),
      },
      encoding: 'utf8',
    },
  );
  const loaded: string[] = JSON.parse(output);
  // A bundle that reads all exports of `node:http` or `node:process` loads one of these.
  const slow = ['internal/deps/undici/undici', 'internal/process/report'];
  expect(loaded).toContain('NativeModule https');
  expect(slow.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
});
