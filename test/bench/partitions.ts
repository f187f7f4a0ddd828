import { markdownTable } from '../../infra/documents/markdown.ts';
import { stages } from '../../infra/stages.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { likelyShare } from '../../shared/storage/ids.ts';
import { itemsPath } from '../support/sample.ts';

// Computes a stage's throughput for docs/scaling.md from the limits in AWS's documentation.

/** Bytes of an item with a text of 20 characters, including the create token and the keys of both indexes. */
const ITEM_BYTES = 165;

/** Values of `listPartitions` that the tables compare. */
const SETTINGS = [1, 2, 4, 16];

const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
const UNITS_PER_KEY = { Write: 1_000, Read: 3_000 };
/** Initial units per second of a new on-demand table. The same limit is assumed for each index. */
const UNITS_PER_NEW_TABLE = { Write: 4_000, Read: 12_000 };
/** Default quota per second for each table and index. Read units and write units have separate quotas. */
const UNITS_PER_TABLE = 40_000;
/** Default API Gateway quota of an account in most regions. */
const GATEWAY_REQUESTS_PER_SECOND = 10_000;
/** Default Lambda quota of an account. */
const CONCURRENT_EXECUTIONS = 1_000;
/** Limit per execution environment, however short its requests are. https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html */
const INVOCATIONS_PER_SECOND = 10;

type Figure = (partitions: number) => number;

const createUnits: Figure = () => Math.ceil(ITEM_BYTES / 1_024);
/** Each list partition is queried for its share of the page and of the item that follows the page. */
const listUnits =
  (items: number): Figure =>
  (partitions) =>
    partitions * Math.ceil((likelyShare(items + 1, partitions) * ITEM_BYTES) / 4_096) * 0.5;

const sizeOf = (items: number) => `${items} ${itemsPath.slice(1)}`;

/** Returns the limit tables for `docs/scaling.md`. */
export function limitTables(): string {
  return [
    figureTable('Creates per second', limitsOf('Write', createUnits)),
    figureTable(`Lists of ${sizeOf(PAGE.default)} per second`, limitsOf('Read', listUnits(PAGE.default))),
    figureTable('Read units per list', {
      [sizeOf(PAGE.default)]: listUnits(PAGE.default),
      [sizeOf(PAGE.maximum)]: listUnits(PAGE.maximum),
    }),
  ].join('\n');
}

/** Returns the requests per second that each limit allows. @param units read or write units per request */
function limitsOf(kind: 'Write' | 'Read', units: Figure): Record<string, Figure> {
  const { requestsPerSecond, [`max${kind}UnitsPerSecond` as const]: maxUnits } = stages.production;
  return {
    '`requestsPerSecond`': () => requestsPerSecond,
    'partition keys of an index': (partitions) => (partitions * UNITS_PER_KEY[kind]) / units(partitions),
    [`\`max${kind}UnitsPerSecond\``]: (partitions) => maxUnits / units(partitions),
    'new on-demand table': (partitions) => UNITS_PER_NEW_TABLE[kind] / units(partitions),
    "API Gateway's account quota": () => GATEWAY_REQUESTS_PER_SECOND,
    "DynamoDB's table quota": (partitions) => UNITS_PER_TABLE / units(partitions),
    "Lambda's account quota": () => CONCURRENT_EXECUTIONS * INVOCATIONS_PER_SECOND,
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
