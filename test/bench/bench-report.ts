import { markdownTable } from '../../infra/operate/markdown-table.ts';
import { boundsOf, rowOf } from './bench-bounds.ts';
import type { Results, Row } from './bench-results.ts';
import { architectures, chosenMegabytes, dollarsPerMillion, memoryPrices } from './memory-cost.ts';
import { howToGetRuntime, isStandIn } from './runtime.ts';
import type { Spread } from './spread.ts';

/** Functions whose memory size is chosen. */
export const functionNames = ['list-pets', 'create-pet', 'get-pet', 'authorizer'];

/** The computed parts of `docs/performance.md`, by name. */
export function report(results: Results) {
  return {
    circumstances: circumstances(results),
    'cold requests': coldTables(results),
    'warm requests': warmTables(results),
    'processor time and memory': resourceTables(results),
    'list partitions': partitionsTable(results),
    bounds: boundsTable(results),
    'memory size': costTables(results),
  };
}

/** Figures that the README repeats, by name. */
export function readmeFigures(results: Results): Record<string, string> {
  const cold = (name: string) =>
    [256, 512].map((megabytes) => rowOf(results, name, megabytes)!.cold.median.toFixed()).join(' and ');
  const sizes = results.rows.filter(({ name }) => functionNames.includes(name)).map((row) => row.bundleBytes);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)].map((bytes) => Math.round(bytes / 1_000));
  return { cold: cold('list-pets'), 'bare cold': cold('bare list'), bundles: `${least} to ${most}` };
}

function circumstances({ date, machine, node, runtime, quota, leftOut, counts }: Results): string {
  const { processor, cores, memoryGigabytes, system } = machine;
  const { coldStarts, warmInstances, warmRequests } = counts;
  const lines = [
    `- ${date}, ${processor} with ${cores} cores and ${memoryGigabytes} GB, ${system}, Node ${node}.`,
    `- The functions ran under ${runtime}${isStandIn(runtime) ? ` for AWS's runtime interface client; ${howToGetRuntime}` : ''}.`,
    quota
      ? `- Their share of a core was set by ${quota.kind}, in periods of ${quota.periodMilliseconds} ms.`
      : `- Nothing set their share of a core: ${leftOut!.reason}. ${listOf(leftOut!.megabytes)} MB are left out.`,
    `- Of each row: cold starts ${coldStarts}, warm instances ${warmInstances}, requests of each of these ${warmRequests}.`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function coldTables(results: Results): string {
  return [
    bySize(results, 'Init and first answer, ms', ({ cold }) => spread(cold)),
    bySize(results, 'Init, ms', ({ init }) => spread(init)),
    bySize(results, 'First answer after init, ms', ({ first }) => spread(first)),
  ].join('\n');
}

function warmTables(results: Results): string {
  return [
    bySize(results, 'Median of warm requests, ms', ({ p50 }) => spread(p50)),
    bySize(results, '99th percentile of warm requests, ms', ({ p99 }) => spread(p99)),
  ].join('\n');
}

function resourceTables(results: Results): string {
  return [
    bySize(results, 'CPU of a warm request, µs', ({ cpu }) => spread(cpu)),
    bySize(results, 'Resident memory after warm requests, MB', ({ resident }) => spread(resident)),
    markdownTable(
      ['Bundle', 'bytes'],
      namesIn(results).map((name) => [
        nameOf(name),
        thousands(results.rows.find((row) => row.name === name)!.bundleBytes),
      ]),
    ),
  ].join('\n');
}

/** Of rows that are there for one memory size, beside the same function as it is deployed. */
function partitionsTable(results: Results): string {
  const special = results.rows.filter(({ name }) => isOfPartitions(name));
  const plain = special[0] && rowOf(results, 'list-pets', special[0].megabytes);
  if (!plain) return 'Not measured.\n';
  return markdownTable(
    [
      `At ${plain.megabytes} MB`,
      'CPU of a warm request, µs',
      'median of warm requests, ms',
      'resident memory, MB',
    ],
    [plain, ...special].map(({ name, cpu, p50, resident }) => [
      nameOf(name),
      spread(cpu),
      spread(p50),
      spread(resident),
    ]),
  );
}

function boundsTable(results: Results): string {
  return markdownTable(
    ['Bound', 'measured', 'at most', 'met'],
    boundsOf(results).map(({ what, measured, atMost }) => [
      what,
      spread(measured),
      atMost.toFixed(2),
      verdict(measured, atMost),
    ]),
  );
}

/** A bound within the middle half is neither met nor missed for certain. */
function verdict(measured: Spread | undefined, atMost: number): string {
  if (!measured) return 'not measured';
  const { median, p25, p75 } = measured;
  if (p75 <= atMost) return 'yes';
  if (p25 > atMost) return '**no**';
  return median <= atMost ? 'by its median' : '**not by its median**';
}

function costTables(results: Results): string {
  const sizes = sizesIn(results);
  const cells = (name: string, cellOf: (row: Row) => string) =>
    sizes.map((megabytes) => {
      const row = rowOf(results, name, megabytes);
      const cell = row ? cellOf(row) : '–';
      return megabytes === chosenMegabytes(name) ? `**${cell}**` : cell;
    });
  const names = functionNames.filter((name) => results.rows.some((row) => row.name === name));
  return [
    markdownTable(
      ['Charged for a warm request, ms', ...sizes.map(megabytesOf)],
      names.map((name) => [nameOf(name), ...cells(name, (row) => row.billed.median.toFixed(1))]),
    ),
    ...architectures.map((architecture) =>
      markdownTable(
        [`Dollars of memory for a million, ${architecture}`, ...sizes.map(megabytesOf)],
        names.map((name) => [
          nameOf(name),
          ...cells(name, (row) => dollarsPerMillion(row, architecture).toFixed(3)),
        ]),
      ),
    ),
    markdownTable(
      ['Price', 'dollars a GB-second', 'compared with'],
      architectures.map((architecture) => {
        const { dollars, seen } = memoryPrices[architecture];
        return [architecture, `${dollars}`, seen];
      }),
    ),
  ].join('\n');
}

/** A row for each function and yardstick, a column for each memory size, those that were left out too. */
function bySize(results: Results, what: string, cellOf: (row: Row) => string): string {
  const sizes = sizesIn(results);
  return markdownTable(
    [what, ...sizes.map(megabytesOf)],
    namesIn(results).map((name) => [
      nameOf(name),
      ...sizes.map((megabytes) => {
        const row = rowOf(results, name, megabytes);
        return row ? cellOf(row) : 'not measured';
      }),
    ]),
  );
}

function sizesIn({ rows, leftOut }: Results): number[] {
  const sizes = new Set([...(leftOut?.megabytes ?? []), ...rows.map(({ megabytes }) => megabytes)]);
  return [...sizes].toSorted((one, other) => one - other);
}

function namesIn({ rows }: Results): string[] {
  return [...new Set(rows.map(({ name }) => name))].filter((name) => !isOfPartitions(name));
}

function isOfPartitions(name: string): boolean {
  return name.includes(' over ');
}

/** Functions have the names of their modules. */
function nameOf(name: string): string {
  return name.replace(/^[a-z]+-[a-z]+|^authorizer/, '`$&`');
}

function spread(values: Spread | undefined): string {
  if (!values) return '–';
  const { median, p25, p75 } = values;
  if (p25 === p75) return figure(median);
  return `${figure(median)} (${figure(p25)}–${figure(p75)})`;
}

/** With three digits that count, or more. */
function figure(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

function megabytesOf(megabytes: number): string {
  return `${thousands(megabytes)} MB`;
}

function thousands(amount: number): string {
  return amount.toLocaleString('en');
}

function listOf(sizes: number[]): string {
  return new Intl.ListFormat('en').format(sizes.map(thousands));
}
