import { type BuildOptions, buildSync } from 'esbuild';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Node.js modules that get no alias, because the SDK loads these modules only when needed. */
const lazyModules = new Set(['async_hooks', 'http', 'http2']);
const nodeModules = builtinModules.filter((name) => !lazyModules.has(name));
const sdkModules = ['core/protocols', 'credential-provider-node', 'dynamodb-codec', 'endpoint-cache'];

export const bundlingOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  // Avoids the SDK's CommonJS builds, which are larger and need a `require` that an ES module does not have.
  mainFields: ['module', 'main'],
  alias: {
    ...aliases('node:', nodeModules, './shared/bundle/node.ts'),
    'node:https': './shared/bundle/https.ts',
    ...aliases('@aws-sdk/', sdkModules, './shared/bundle/sdk.ts'),
  },
  // DynamoDB does not use this module, whose dynamic import would make esbuild wrap most bundled modules in functions.
  external: ['@smithy/core/event-streams'],
  // Rejects a use of something that the files in `shared/bundle` do not export.
  logOverride: { 'import-is-undefined': 'error' },
};

function aliases(prefix: string, names: string[], file: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [prefix + name, file]));
}

/**
 * Bundles the module `entry` to `index.mjs` in `folder`.
 *
 * @param entry path in the project, such as `functions/list-pets.ts`
 */
export function bundle(entry: string, folder: string): void {
  const outfile = join(folder, 'index.mjs');
  buildSync({ ...bundlingOptions, absWorkingDir: projectRoot, entryPoints: [entry], outfile });
}
