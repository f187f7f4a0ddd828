import { expect, test } from '@jest/globals';
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { build } from 'esbuild';
import { projectRoot } from '../../infra/command.ts';
import { bundleIn } from '../../infra/local/emulator/lambda/lambda.ts';
import { bundleFunctions, bundlingOptions } from '../../infra/stack/bundling.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { functionNames, readableTemplate } from '../support/stack-template.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const assembly = await sharedSynthesis();
const { Resources } = readableTemplate('staging');
const folder = temporaryFolder();

/** The name of each function's module, such as `get-book`, and the path of the function's bundle in its asset. */
const bundles = functionNames.map((name): [module: string, file: string] => {
  const properties = Resources[name].Properties;
  return [parse(properties.Handler).name, bundleIn(assembly, { logicalId: name, properties })];
});

// Source maps, for example, would make cold starts slower.
test('the asset of each function contains only the bundle', () => {
  const files = bundles.map(([, file]) => readdirSync(dirname(file)));
  expect(files).toEqual(bundles.map(([, file]) => [basename(file)]));
});

// A cold start reads and compiles the complete bundle, so clients wait longer for a larger bundle. The limit has room for
// updates of packages, but not for another client of the SDK.
test('each bundle is within the size limit', () => {
  const problems = bundles.flatMap(([name, file]) => {
    const limit = name === 'authorizer' ? 500_000 : 600_000;
    const { size } = statSync(file);
    if (size <= limit) return [];
    return [
      `The bundle of ${name} has ${size} bytes, which is more than ${limit}. Larger bundles make cold starts slower. ` +
        'Check which package was added. To keep the package, measure cold starts with npm run bench and raise the limit.',
    ];
  });
  expect(problems).toEqual([]);
});

// The functions would fail on AWS if the SDK used the module that an empty one replaces.
test('bundling fails if a module imports event streams statically', async () => {
  const contents = `import { EventStreamSerde } from '@smithy/core/event-streams'; export const handler = EventStreamSerde;`;
  const stdin = { contents, resolveDir: projectRoot };
  const bundled = build({ ...bundlingOptions, stdin, write: false, logLevel: 'silent' });
  await expect(bundled).rejects.toThrow('No matching export in "shared/storage/event-streams.ts"');
});

// Lambda reads a bundle as another user, and the CDK deploys the file with its mode.
test('every user can read a bundle, even if the operator allows no other user to read new files', async () => {
  const umask = process.umask(0o077);
  const files = await bundleFunctions(join(folder, 'bundles')).finally(() => process.umask(umask));
  const modes = [...files.values()].map((file) => (statSync(file).mode & 0o777).toString(8));
  expect(new Set(modes)).toEqual(new Set(['644']));
});
