import { ITEM_BYTES } from '../../infra/documents/cost/usage.ts';
import { markdownTable } from '../../infra/documents/markdown.ts';
import { stages } from '../../infra/stages.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { collections } from '../../shared/contract/operations.ts';
import { queryLimit } from '../../shared/storage/ids.ts';

// Computes throughput limits for docs/scaling.md from production's settings and AWS's documented quotas.

/** Values of `listPartitions` that the tables compare. */
const SETTINGS = [1, 2, 4, 16];

const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/**
 * Maximum units per second for all items with the same partition key value.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
const UNITS_PER_KEY = { Write: 1_000, Read: 3_000 };
/** Initial units per second of a new on-demand table. Each index is assumed to have the same limit. */
const UNITS_PER_NEW_TABLE = { Write: 4_000, Read: 12_000 };

type Figure = (partitions: number) => number;

const createUnits: Figure = () => Math.ceil(ITEM_BYTES / 1_024);
/** Read units per list. A list usually sends one query per list partition. A query reads up to `queryLimit` items. */
const listUnits =
  (items: number): Figure =>
  (partitions) =>
    partitions * Math.ceil((queryLimit(items + 1, partitions) * ITEM_BYTES) / 4_096) * 0.5;

/** Formats a number of items, such as `1,000 books`. @param plural name of the items @default - the first collection's */
export const itemCount = (items: number, plural: string = collections[0].plural) =>
  `${items.toLocaleString('en')} ${plural}`;

/** Returns the limit tables for `docs/scaling.md`. */
export function limitTables(): string {
  return [
    figureTable('Creates per second', limitsOf('Write', createUnits)),
    figureTable(`Lists of ${itemCount(PAGE.default)} per second`, limitsOf('Read', listUnits(PAGE.default))),
    figureTable('Read units per list', {
      [itemCount(PAGE.default)]: listUnits(PAGE.default),
      [itemCount(PAGE.maximum)]: listUnits(PAGE.maximum),
    }),
  ].join('\n');
}

/** Returns the requests per second that each limit allows. @param units read or write units per request */
function limitsOf(kind: 'Write' | 'Read', units: Figure): Record<string, Figure> {
  const { requestsPerSecond, [`max${kind}UnitsPerSecond` as const]: maxUnits } = stages.production;
  return {
    '`requestsPerSecond`': () => requestsPerSecond,
    'list partitions of an index': (partitions) => (partitions * UNITS_PER_KEY[kind]) / units(partitions),
    [`\`max${kind}UnitsPerSecond\``]: (partitions) => maxUnits / units(partitions),
    'new on-demand table': (partitions) => UNITS_PER_NEW_TABLE[kind] / units(partitions),
    "API Gateway's account quota": () => 10_000, // in most regions
    // Each table and index has this quota for reads and the same quota for writes.
    "DynamoDB's table quota": (partitions) => 40_000 / units(partitions),
    // 1,000 concurrent executions. Each execution environment processes at most 10 requests per second.
    // https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
    "Lambda's account quota": () => 1_000 * 10,
  };
}

function figureTable(title: string, figures: Record<string, Figure>): string {
  return markdownTable(
    [`${title}, by \`listPartitions\``, ...SETTINGS.map(String)],
    Object.entries(figures).map(([name, figure]) => [
      name,
      ...SETTINGS.map((partitions) => format.format(figure(partitions))),
    ]),
  );
}
