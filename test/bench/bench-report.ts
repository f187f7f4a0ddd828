import { markdownTable } from '../../infra/documents/markdown.ts';
import { templateOf } from '../support/template-of.ts';
import { stages } from '../../infra/stages.ts';
import { bounds, evaluate } from './bench-bounds.ts';
import { figureOf, type Metric, type Results, titleOf } from './bench-results.ts';
import { formatSpread } from './spread.ts';

/** Names of the deployed functions. The keys are the names in `infra/stack/functions.ts`. */
export const functions = {
  listPets: 'list-pets',
  createPet: 'create-pet',
  getPet: 'get-pet',
  authorizer: 'authorizer',
};

/** Price for arm64 in us-east-1 at the first tier, from docs/cost.md. */
const DOLLARS_PER_GB_SECOND = 0.0000133334;

/** Memory size at which warm requests are compared with yardsticks. */
const COMPARED_MEGABYTES = 512;

/** Returns the generated parts of `docs/performance.md` by name. */
export function report(results: Results) {
  return {
    'run details': results.runDetails,
    clients: clientsTable(results),
    bounds: boundsTable(results),
    'cold requests': coldTable(results),
    'warm requests': warmTable(results),
    'memory size': memoryTable(results),
  };
}

/** Returns the README's figures by name. */
export function readmeFigures(results: Results): Record<string, string> {
  const cold = (name: string) =>
    [256, 512].map((megabytes) => figureOf(results, 'cold', name, megabytes)!.median.toFixed()).join(' and ');
  const sizes = results.rows
    .filter(({ name }) => Object.values(functions).includes(name))
    .map(({ bundleBytes }) => Math.round(bundleBytes / 1_000));
  return {
    cold: cold('list-pets'),
    'bare cold': cold('bare list'),
    bundles: `${Math.min(...sizes)} to ${Math.max(...sizes)}`,
  };
}

/** Returns the memory size of each function in production, in MB. */
function deployedMemory(): Record<string, number> {
  const { Resources } = templateOf({ stage: 'production', settings: stages.production });
  const ids = Object.keys(Resources).filter((id) => Resources[id]!.Type === 'AWS::Lambda::Function');
  const sizeOf = (name: string): number =>
    Resources[ids.find((id) => id.toLowerCase().startsWith(name.toLowerCase()))!]!.Properties['MemorySize'];
  return Object.fromEntries(Object.keys(functions).map((name) => [name, sizeOf(name)]));
}

function clientsTable(results: Results): string {
  const memoryMegabytes = deployedMemory();
  const cells = (operation: string, name: string): string[] => {
    const megabytes = memoryMegabytes[operation]!;
    const show = (metric: Metric) => formatSpread(figureOf(results, metric, name, megabytes));
    return [titleOf(name), `${megabytes}`, show('chain'), show('cold'), show('p50'), show('p99')];
  };
  return markdownTable(
    ['Latency, ms', 'Memory, MB', 'Function and authorizer cold', 'Function cold', 'Warm, p50', 'Warm, p99'],
    [
      ...Object.entries(functions).map(([operation, name]) => cells(operation, name)),
      cells('createPet', 'create-pet, idempotent'),
    ],
  );
}

function boundsTable(results: Results): string {
  return markdownTable(
    ['Metric', 'Row', 'Compared with', 'Ratio', 'Bound', 'Met'],
    bounds.map((bound) => {
      const [metric, megabytes, row, yardstick, maximum] = bound;
      const { ratios, verdict } = evaluate(results, bound);
      const names = [titleOf(row), titleOf(yardstick)];
      return [`${metric}, ${megabytes} MB`, ...names, formatSpread(ratios), maximum.toFixed(2), verdict];
    }),
    '---',
  );
}

function coldTable(results: Results): string {
  const sizes = [256, 512];
  return markdownTable(
    ['Cold start, ms', ...sizes.flatMap((size) => [`${size} MB: total`, 'first response'])],
    namesWith(results, 'cold').map((name) => [
      titleOf(name),
      ...sizes.flatMap((size) =>
        (['cold', 'first'] as const).map((metric) => formatSpread(figureOf(results, metric, name, size))),
      ),
    ]),
  );
}

function warmTable(results: Results): string {
  const columns = { p50: 'p50, ms', p99: 'p99, ms', cpu: 'CPU, µs', resident: 'Resident, MB' };
  const metrics = Object.keys(columns) as (keyof typeof columns)[];
  return markdownTable(
    [`Warm request at ${COMPARED_MEGABYTES} MB`, ...Object.values(columns)],
    namesWith(results, 'p50').map((name) => [
      titleOf(name),
      ...metrics.map((metric) => formatSpread(figureOf(results, metric, name, COMPARED_MEGABYTES))),
    ]),
  );
}

function memoryTable(results: Results): string {
  const memoryMegabytes = deployedMemory();
  const sizes = [256, 512, 1_024];
  const cellOf = (name: string, size: number): string => {
    const billed = figureOf(results, 'billed', name, size)?.median;
    if (billed === undefined) return '–';
    const dollars = (size / 1_024) * (billed / 1_000) * 1e6 * DOLLARS_PER_GB_SECOND;
    const p99 = figureOf(results, 'p99', name, size)!.median;
    return `${billed.toFixed(1)} / ${p99.toFixed(1)} / ${dollars.toFixed(3)}`;
  };
  return markdownTable(
    ['Billed, ms / p99, ms / US dollars', ...sizes.map((size) => `${size.toLocaleString('en')} MB`)],
    Object.entries(functions).map(([operation, name]) => [
      titleOf(name),
      ...sizes.map((size) =>
        size === memoryMegabytes[operation] ? `**${cellOf(name, size)}**` : cellOf(name, size),
      ),
    ]),
  );
}

function namesWith({ rows }: Results, metric: Metric): string[] {
  return [...new Set(rows.filter((row) => row[metric]).map(({ name }) => name))];
}
