import type { Plugin } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../command.ts';

// The only purpose of these plugins is to make the functions start faster. docs/decisions.md, "SDK settings and
// bundling plugins", describes how to remove them.

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
 * Leaves modules that the SDK imports dynamically, such as `@smithy/core/event-streams`, out of the bundles. With them,
 * esbuild would wrap most modules in functions, which makes the start slower. Because the modules are missing at run
 * time, the build fails if a bundle still imports one of them.
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
      const advice = 'Import it statically, because bundles contain no dynamic imports.';
      return {
        errors: missing.map(({ path }) => ({ text: `A function imports ${path} dynamically. ${advice}` })),
      };
    });
  },
};

/**
 * Makes the settings in `shared/storage/sdk.ts` the defaults of the SDK's client, so that the SDK's own implementations,
 * such as its search for credentials, are not bundled. The build fails if the SDK has no default for a setting.
 */
const sdkDefaults: Plugin = {
  name: 'sdk-defaults',
  async setup(plugin) {
    const { sdkSettings } = await import('../../shared/storage/sdk.ts');
    const missing = new Set(Object.keys(sdkSettings));
    let isLoaded = false;
    plugin.onLoad({ filter: /\/client-dynamodb\/dist-es\/runtimeConfig[.\w]*\.js$/ }, ({ path }) => {
      isLoaded = true;
      const settings = JSON.stringify(join(projectRoot, 'shared/storage/sdk.ts'));
      // The condition `true` makes esbuild remove the SDK's default.
      const code = readFileSync(path, 'utf8').replaceAll(/\bconfig\?\.(\w+) \?\?/g, (start, name) =>
        missing.delete(name) ? `true ? config?.${name} ?? sdkSettings.${name} :` : start,
      );
      return { contents: `import { sdkSettings } from ${settings};\n${code}` };
    });
    plugin.onEnd(() => {
      const names = isLoaded ? missing : [];
      const advice = 'Adapt the plugin sdk-defaults in infra/stack/plugins.ts to this version of the SDK.';
      return {
        errors: [...names].map((name) => ({
          text: `The SDK has no default "config?.${name} ??". ${advice}`,
        })),
      };
    });
  },
};

export const plugins: Plugin[] = [nodeModules, dynamicImports, sdkDefaults];
