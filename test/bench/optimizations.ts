import type { Plugin } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '../../infra/documents/markdown.ts';
import { pluginsWithout } from '../../infra/stack/bundling.ts';
import { sdkSettings } from '../../shared/storage/sdk.ts';
import { bundle, type MeasuredFunction, moduleIn } from './bench-functions.ts';
import type { Metric } from './bench-measure.ts';
import { figureOf, ratiosOf, type Results } from './bench-report.ts';

// Builds variants of the functions that lack optimizations, and compares the variants with the current functions.

type Change = [file: string, text: string | RegExp, replacement: string];

const [sdk, database] = ['/shared/storage/sdk.ts', '/shared/storage/database.ts'];
const prototype = 'Object.create';

/** Changes to sources that omitting an optimization requires. A setting is only removed from the list of settings. */
const changes: Record<string, Change[]> = {
  [prototype]: [[database, 'Object.create(client.config);', '']],
};

const optimizations = [...Object.keys(sdkSettings), ...pluginsWithout([]).map(({ name }) => name), prototype];

/** Omitted optimizations by variant. If a name begins with another name, such as `protocol`, the two belong together. */
const variants: [title: string, omitted: string[]][] = [
  ['none', []],
  ...optimizations
    .filter((name) => !optimizations.some((other) => other !== name && name.startsWith(other)))
    .map((name): [string, string[]] => [
      `\`${name}\``,
      optimizations.filter((each) => each.startsWith(name)),
    ]),
  ['all', optimizations],
];

/** Measured functions, with the memory size of cold starts and of warm requests. */
const columns: [title: string, metric: Metric, megabytes: number, name: string][] = [
  ['cold `list-pets`', 'coldCpu', 256, 'list-pets'],
  ['cold `create-pet`', 'coldCpu', 256, 'create-pet'],
  ['warm `list-pets`', 'cpu', 512, 'list-pets'],
  ['16 partitions', 'cpu', 512, 'list-pets, 16 partitions'],
  ['warm `create-pet`', 'cpu', 512, 'create-pet'],
];

/** Bundles the measured functions once for each variant. Their names begin with the variant's title. */
export async function prepareVariants(functions: MeasuredFunction[], folder: string) {
  const measured = functions.filter(({ name }) => columns.some((column) => column[3] === name));
  const modules = [...new Set(measured.map(({ name }) => `functions/${moduleIn(name)}.ts`))];
  const built = variants.map(async ([variant, omitted], index) => {
    const outdir = join(folder, `variant-${index}`);
    const bundleWithout = (names: string[]) =>
      bundle(modules, outdir, [...pluginsWithout(names), omission(names)]);
    // Some of the SDK's defaults import packages dynamically, which this plugin prevents.
    const title = await bundleWithout(omitted).then(
      () => variant,
      () => bundleWithout([...omitted, 'dynamic-imports']).then(() => `${variant}*`),
    );
    return measured.map(({ name, ...fn }) => {
      return { ...fn, name: `${title}: ${name}`, file: join(outdir, `${moduleIn(name)}.mjs`) };
    });
  });
  return (await Promise.all(built)).flat();
}

/** Returns a plugin that omits optimizations from sources. The build fails if a source does not contain one. */
function omission(omitted: string[]): Plugin {
  const settings = omitted.filter((name) => name in sdkSettings);
  const removals = settings.map((name): Change => [sdk, new RegExp(`^ {2}${name}(,|:.*,)$`, 'm'), '']);
  const needed = [...removals, ...omitted.flatMap((name) => changes[name] ?? [])];
  return {
    name: 'omission',
    setup(plugin) {
      plugin.onLoad({ filter: new RegExp(`(${sdk}|${database})$`) }, ({ path }) => {
        let contents = readFileSync(path, 'utf8');
        for (const [file, text, replacement] of needed) {
          if (!path.endsWith(file)) continue;
          const changed = contents.replace(text, replacement);
          if (changed === contents) throw new Error(`${path} does not contain ${text}.`);
          contents = changed;
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}

/**
 * Returns a table with the ratios of each variant to the current functions: the median, and half the distance between the
 * quartiles. The first row contains absolute figures.
 */
export function documents({ runDetails, rows }: Results) {
  const titles = [...new Set(rows.map(({ name }) => name.split(': ')[0]!))];
  const cellOf = (title: string, [, metric, megabytes, name]: (typeof columns)[number]): string => {
    const { median } = figureOf(rows, metric, megabytes, `none: ${name}`)!;
    if (title === 'none') return `${(median / 1_000).toPrecision(3)} ms`;
    const ratios = ratiosOf(rows, metric, megabytes, `${title}: ${name}`, `none: ${name}`)!;
    return `${ratios.median.toFixed(2)}±${((ratios.p75 - ratios.p25) / 2).toFixed(2)}`;
  };
  const table = markdownTable(
    ['Omitted', ...columns.map(([head]) => head), 'Bundle, kB'],
    titles.map((title) => {
      const { bundleBytes } = rows.find(({ name }) => name === `${title}: list-pets`)!;
      const cells = columns.map((column) => cellOf(title, column));
      return [title, ...cells, (bundleBytes / 1_000).toFixed(1)];
    }),
  );
  return { 'docs/performance.md': { 'optimization run': runDetails, optimizations: table } };
}
