import { build, type BuildOptions } from 'esbuild';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, UsageError } from '../command.ts';

/**
 * Options with which esbuild bundles each function. The bundles are not minified, so that the stack traces in a log are
 * readable (docs/decisions.md, "Bundles that are not minified").
 */
export const bundlingOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // This order selects the SDK's ES modules. Its CommonJS builds are larger and need `require`, which ES modules lack.
  mainFields: ['module', 'main'],
  // With this setting, the build fails if a module imports a name from an empty file, which an editor may be writing.
  logOverride: { 'import-is-undefined': 'error' },
  // Both make cold starts shorter (docs/performance.md, "Optimizations").
  alias: {
    // The SDK's default provider contains clients of STS and SSO.
    '@aws-sdk/credential-provider-node': join(projectRoot, 'shared/storage/default-credentials.ts'),
    // The SDK imports event streams dynamically, so esbuild would wrap most modules.
    '@smithy/core/event-streams': join(projectRoot, 'shared/storage/event-streams.ts'),
  },
};

/** Path of each bundle by the name of its module, such as `get-book`. */
export type Bundles = Map<string, string>;

/** Folder of the source maps, next to the folders of the bundles. It is not part of an asset, so it is never deployed. */
const SOURCE_MAPS = 'source-maps';

/**
 * Bundles each module `NAME.ts` in `functions/` to `folder/NAME/NAME.mjs`. The bundles name their source maps in
 * `folder/source-maps/`, which the local service and debuggers read. If a build fails, esbuild prints the reason, so the
 * error does not repeat it.
 *
 * @throws UsageError if a module cannot be bundled or does not export `handler`.
 */
export async function bundleFunctions(folder: string): Promise<Bundles> {
  const { metafile, outputFiles } = await build({
    ...bundlingOptions,
    sourcemap: 'external',
    sourceRoot: pathToFileURL(projectRoot).href,
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
    const { name, base } = parse(path);
    const file = join(folder, name, base);
    bundles.set(name, file);
    rmSync(join(folder, name), { recursive: true, force: true });
    for (const subfolder of [name, SOURCE_MAPS]) mkdirSync(join(folder, subfolder), { recursive: true });
    writeFileSync(file, `${texts.get(path)}//# sourceMappingURL=../${SOURCE_MAPS}/${base}.map\n`);
    // The CDK deploys the file with its mode, and Lambda reads the file as a different user. With a umask such as 077, the
    // function could not start.
    // https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-deployment.html#troubleshooting-deployment-denied
    chmodSync(file, 0o644);
    writeFileSync(join(folder, SOURCE_MAPS, `${base}.map`), texts.get(`${path}.map`)!);
  }
  return bundles;
}
