import { build, type BuildOptions, type Plugin } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { projectRoot, UsageError } from '../command.ts';

/** Modules of which the functions use only what `shared/bundle/sdk.ts` exports. */
const replacedModules = [
  '@aws-sdk/core/protocols',
  '@aws-sdk/credential-provider-node',
  '@aws-sdk/dynamodb-codec',
  '@aws-sdk/endpoint-cache',
  'node:fs',
  'node:fs/promises',
];

/**
 * Replaces static imports of Node.js modules. An import reads all exports of a module, which makes Node load further
 * modules. The replacement reads only the exports that a bundle uses.
 * https://nodejs.org/api/process.html#processgetbuiltinmoduleid
 */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup(plugin) {
    const namespace = 'node-modules';
    plugin.onResolve({ filter: /^node:/ }, ({ path, kind }) => {
      // The SDK imports some modules dynamically, when it needs them.
      if (replacedModules.includes(path) || kind !== 'import-statement') return undefined;
      return { path, namespace, sideEffects: false };
    });
    plugin.onLoad({ filter: /^/, namespace }, ({ path }) => {
      // esbuild removes the unused exports, because their calls are marked as free of side effects.
      const exports = Object.keys(process.getBuiltinModule(path)!).map(
        (name) => `export const ${name} = /* @__PURE__ */ (() => $.${name})();`,
      );
      const module = `const $ = process.getBuiltinModule('${path}');\nexport default $;\n`;
      return { contents: module + exports.join('\n') };
    });
  },
};

export const bundlingOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  // Avoids the SDK's CommonJS builds, which are larger and need a `require` that an ES module does not have.
  mainFields: ['module', 'main'],
  plugins: [nodeModules],
  alias: Object.fromEntries(replacedModules.map((name) => [name, './shared/bundle/sdk.ts'])),
  // DynamoDB does not use this module, whose dynamic import would make esbuild wrap most bundled modules in functions.
  external: ['@smithy/core/event-streams'],
  // Rejects a use of something that a replacement does not export.
  logOverride: { 'import-is-undefined': 'error' },
};

/**
 * Bundles each module `NAME.ts` in `functions/` to `NAME/index.mjs` in `folder`. esbuild prints the details of errors.
 *
 * @param previousHash hash of the bundles that need not be written again
 * @returns hash of the bundles
 * @throws UsageError if a module cannot be bundled or does not export `handler`.
 */
export async function bundleFunctions(folder: string, previousHash = ''): Promise<string> {
  const { metafile, outputFiles } = await build({
    ...bundlingOptions,
    absWorkingDir: projectRoot,
    entryPoints: ['functions/*.ts'],
    entryNames: '[name]/index',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    metafile: true,
    write: false,
  }).catch((cause: Error) => {
    throw new UsageError('The functions cannot be bundled.', { cause });
  });
  const incomplete = Object.values(metafile.outputs).find(({ exports }) => !exports.includes('handler'));
  if (incomplete) throw new UsageError(`${incomplete.entryPoint} does not export handler.`);
  const bundlesHash = outputFiles.map(({ hash }) => hash).join();
  if (bundlesHash === previousHash) return bundlesHash;
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  return bundlesHash;
}
