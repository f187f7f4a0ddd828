import { build, type BuildOptions, type Plugin } from 'esbuild';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, UsageError } from '../command.ts';
import { sourceMapsFolder } from '../source-maps.ts';

/**
 * Replaces static imports of Node.js modules. Such an import reads all exports of the module, which makes Node load
 * further modules. The replacement reads only the exports that a bundle uses.
 * https://nodejs.org/api/process.html#processgetbuiltinmoduleid
 */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup(plugin) {
    const namespace = 'node-modules';
    plugin.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace, sideEffects: false } : undefined,
    );
    plugin.onLoad({ filter: /^/, namespace }, ({ path }) => {
      // `@__PURE__` marks a call as free of side effects, so esbuild removes unused exports.
      const exports = Object.keys(process.getBuiltinModule(path)!).map(
        (name) => `export const ${name} = /* @__PURE__ */ (() => $.${name})();`,
      );
      const module = `const $ = process.getBuiltinModule('${path}');\nexport default $;\n`;
      return { contents: module + exports.join('\n') };
    });
  },
};

/**
 * Excludes modules that the SDK imports dynamically, such as `@smithy/core/event-streams`. Otherwise, esbuild would wrap
 * most modules in functions. The build fails if a bundle contains one of these imports.
 */
const dynamicImports: Plugin = {
  name: 'dynamic-imports',
  setup(plugin) {
    plugin.onResolve({ filter: /^/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
    plugin.initialOptions.metafile = true;
    plugin.onEnd(({ metafile }) => {
      const imports = Object.values(metafile!.outputs).flatMap((output) => output.imports);
      const missing = imports.filter(({ path, external }) => external && !path.startsWith('node:'));
      return { errors: missing.map(({ path }) => ({ text: `A function imports ${path} dynamically.` })) };
    });
  },
};

/** Settings for which the SDK's `runtimeConfig` files contain no default. */
const withoutDefault = new Set(['cacheMiddleware', 'signer']);

/**
 * Makes the settings in `shared/storage/sdk.ts` the defaults of the SDK's client, so that the SDK's own implementations,
 * such as its search for credentials, are not bundled. The build fails if the SDK has no default for a setting that
 * is not in `withoutDefault`.
 *
 * @param omitted names of settings for which the SDK's defaults stay
 */
const sdkDefaults = (omitted: string[]): Plugin => ({
  name: 'sdk-defaults',
  async setup(plugin) {
    const { sdkSettings } = await import('../../shared/storage/sdk.ts');
    const missing = new Set(Object.keys(sdkSettings)).difference(withoutDefault);
    let isLoaded = false;
    plugin.onLoad({ filter: /\/client-dynamodb\/dist-es\/runtimeConfig[.\w]*\.js$/ }, ({ path }) => {
      isLoaded = true;
      const settings = JSON.stringify(join(projectRoot, 'shared/storage/sdk.ts'));
      // The condition `true` makes esbuild remove the SDK's default.
      const code = readFileSync(path, 'utf8').replaceAll(/\bconfig\?\.(\w+) \?\?/g, (start, name) => {
        const isReplaced = missing.delete(name) && !omitted.includes(name);
        return isReplaced ? `true ? config?.${name} ?? sdkSettings.${name} :` : start;
      });
      return { contents: `import { sdkSettings } from ${settings};\n${code}` };
    });
    plugin.onEnd(() => {
      const names = isLoaded ? missing : [];
      return { errors: [...names].map((name) => ({ text: `The SDK has no default "config?.${name} ??".` })) };
    });
  },
});

/** Returns the plugins for bundles. @param omitted names of plugins to omit, and of settings to leave as in the SDK */
export function pluginsWithout(omitted: string[]): Plugin[] {
  const plugins = [nodeModules, dynamicImports, sdkDefaults(omitted)];
  return plugins.filter(({ name }) => !omitted.includes(name));
}

export const bundlingOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  // Selects the SDK's ES modules. Its CommonJS builds are larger and need `require`, which an ES module lacks.
  mainFields: ['module', 'main'],
  plugins: pluginsWithout([]),
  // Rejects imports of names that a Node.js module does not export.
  logOverride: { 'import-is-undefined': 'error' },
};

/** Path of each bundle by the name of its module, such as `get-pet`. */
export type Bundles = Map<string, string>;

/** Returns the module name from a function's handler, such as `get-pet` from `get-pet-1a2b3c4d.handler`. */
export const handlerModule = (handler: string) => handler.replace(/-\w+\.handler$/, '');

/**
 * Bundles each module `NAME.ts` in `functions/` to `folder/NAME/NAME-HASH.mjs`, with its source map in
 * `folder/source-maps/`. Each line of a stack trace contains the hash, which identifies the source map. The hash also
 * covers the sources, because a new comment changes the source map but not the bundle. esbuild prints errors in detail.
 *
 * @param isForDebugger whether bundles are unminified and include source maps, so that a debugger shows the sources
 * @throws UsageError if a module cannot be bundled or does not export `handler`.
 */
export async function bundleFunctions(folder: string, isForDebugger = false): Promise<Bundles> {
  const { metafile, outputFiles } = await build({
    ...bundlingOptions,
    minify: !isForDebugger,
    sourcemap: isForDebugger ? 'both' : 'external',
    ...(isForDebugger && { sourceRoot: pathToFileURL(projectRoot).href }),
    absWorkingDir: projectRoot,
    entryPoints: ['functions/*.ts'],
    outdir: '.', // Source maps contain the paths of sources relative to this folder.
    outExtension: { '.js': '.mjs' },
    metafile: true,
    write: false,
  }).catch((cause: Error) => {
    throw new UsageError('The functions cannot be bundled.', { cause });
  });
  const texts = new Map(outputFiles.map((file) => [file.path, file.text]));
  const bundles: Bundles = new Map();
  for (const [output, { entryPoint, exports }] of Object.entries(metafile.outputs)) {
    if (!entryPoint) continue; // a source map
    if (!exports.includes('handler')) throw new UsageError(`${entryPoint} does not export handler.`);
    const path = join(projectRoot, output);
    const { name, ext } = parse(path);
    const { sources, sourcesContent } = JSON.parse(texts.get(`${path}.map`)!);
    const own = sourcesContent.filter((_: string, i: number) => /^(?:functions|shared)\//.test(sources[i]));
    const file = `${name}-${hash('sha256', [texts.get(path), ...own].join('\n')).slice(0, 8)}${ext}`;
    bundles.set(name, join(folder, name, file));
    rmSync(join(folder, name), { recursive: true, force: true });
    for (const subfolder of [name, sourceMapsFolder]) mkdirSync(join(folder, subfolder), { recursive: true });
    writeFileSync(join(folder, name, file), texts.get(path)!);
    writeFileSync(join(folder, sourceMapsFolder, `${file}.map`), texts.get(`${path}.map`)!);
  }
  return bundles;
}
