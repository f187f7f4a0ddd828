import type { Plugin } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '../../infra/documents/markdown.ts';
import { pluginsWithout } from '../../infra/stack/bundling.ts';
import { sdkSettings } from '../../shared/storage/sdk.ts';
import { bundle, type MeasuredFunction, moduleIn } from './bench-functions.ts';
import type { Metric } from './bench-measure.ts';
import { figureOf, ratiosOf, type Results } from './bench-report.ts';

// Builds variants of the functions without one or all optimizations, and compares them with the current functions.

const [sdk, database] = ['/shared/storage/sdk.ts', '/shared/storage/database.ts'];

/** For each optimization that is not a plugin, the source file and the text to remove from the file. */
const removals: Record<string, [file: string, text: string | RegExp]> = {
  ...Object.fromEntries(
    Object.keys(sdkSettings).map((name) => [name, [sdk, new RegExp(`^ {2}${name}(,|:.*,)$`, 'm')]]),
  ),
  'Object.create': [database, 'Object.create(client.config);'],
};

const optimizations = [...Object.keys(removals), ...pluginsWithout([]).map(({ name }) => name)];

/** The optimizations that each variant omits. The variant `protocol` also omits `protocolSettings`. */
const variants: [title: string, omitted: string[]][] = [
  ['none', []],
  ...optimizations
    .filter((name) => name !== 'protocolSettings')
    .map((name): [string, string[]] => [
      `\`${name}\``,
      optimizations.filter((each) => each.startsWith(name)),
    ]),
  ['all', optimizations],
];

/** Columns of the table. Each column is a metric of a function at one memory size. */
const columns: [title: string, metric: Metric, megabytes: number, name: string][] = [
  ['Cold list', 'coldCpu', 256, 'list-pets'],
  ['Cold create', 'coldCpu', 256, 'create-pet'],
  ['Warm list', 'cpu', 512, 'list-pets'],
  ['16 partitions', 'cpu', 512, 'list-pets, 16 partitions'],
  ['Warm create', 'cpu', 512, 'create-pet'],
];

/** Bundles the measured functions for each variant. Each returned function's name begins with the variant's title. */
export async function prepareVariants(functions: MeasuredFunction[], folder: string) {
  const measured = functions.filter(({ name }) => columns.some((column) => column[3] === name));
  const modules = [...new Set(measured.map(({ name }) => `functions/${moduleIn(name)}.ts`))];
  const built = variants.map(async ([variant, omitted], index) => {
    const outdir = join(folder, `variant-${index}`);
    const bundleWithout = (names: string[]) =>
      bundle(modules, outdir, [...pluginsWithout(names), omission(names)]);
    // Some of the SDK's defaults contain dynamic imports, which the plugin `dynamic-imports` rejects. If bundling
    // fails, the variant also omits this plugin and is marked with `*`.
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

/** Returns a plugin that removes optimizations from the sources. The build fails if the text to remove is missing. */
function omission(omitted: string[]): Plugin {
  const needed = omitted.map((name) => removals[name]).filter((removal) => removal !== undefined);
  return {
    name: 'omission',
    setup(plugin) {
      plugin.onLoad({ filter: new RegExp(`(${sdk}|${database})$`) }, ({ path }) => {
        let contents = readFileSync(path, 'utf8');
        for (const [file, text] of needed) {
          if (!path.endsWith(file)) continue;
          const changed = contents.replace(text, '');
          if (changed === contents) throw new Error(`${path} does not contain ${text}.`);
          contents = changed;
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}

/**
 * Returns the run details and a table that compares each variant with the current functions. A cell contains the median
 * ratio and half of the interquartile range. The first row contains the absolute medians of the current functions.
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
