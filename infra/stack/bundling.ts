import { build, type BuildOptions } from 'esbuild';
import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, UsageError } from '../command.ts';
import { sourceMapsFolder } from '../source-maps.ts';

/** Options with which esbuild bundles each function. */
export const bundlingOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  // This order selects the SDK's ES modules. Its CommonJS builds are larger and need `require`, which ES modules lack.
  mainFields: ['module', 'main'],
  // With this setting, the build fails if a module imports a name from an empty file, which an editor may be writing.
  logOverride: { 'import-is-undefined': 'error' },
  // The figures are medians of 21 cold starts of a list with 256 MB. Without the two replacements, they take 254 ms.
  alias: {
    // The SDK's default provider contains clients of STS and SSO. Without them: 216 ms, −135 kB.
    '@aws-sdk/credential-provider-node': join(projectRoot, 'shared/storage/default-credentials.ts'),
    // The SDK imports event streams dynamically, so esbuild would wrap most modules. Also without them: 206 ms, −20 kB.
    '@smithy/core/event-streams': join(projectRoot, 'shared/storage/event-streams.ts'),
  },
};

/** Path of each bundle by the name of its module, such as `get-book`. */
export type Bundles = Map<string, string>;

/** Returns the module name from a function's handler, such as `get-book` from `get-book-1a2b3c4d.handler`. */
export const handlerModule = (handler: string) => handler.replace(/-\w+\.handler$/, '');

/**
 * Bundles each module `NAME.ts` in `functions/` to `folder/NAME/NAME-HASH.mjs`, with its source map in
 * `folder/source-maps/`. Stack traces contain the name of the bundle, so the hash in it identifies the source map. The
 * hash also covers the sources, because a new comment changes the source map but not the bundle. If a build fails,
 * esbuild prints the reason, so the error does not repeat it.
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
    // The CDK deploys the file with its mode, and Lambda reads the file as a different user. With a umask such as 077, the
    // function could not start.
    // https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-deployment.html#troubleshooting-deployment-denied
    chmodSync(join(folder, name, file), 0o644);
    writeFileSync(join(folder, sourceMapsFolder, `${file}.map`), texts.get(`${path}.map`)!);
  }
  return bundles;
}
