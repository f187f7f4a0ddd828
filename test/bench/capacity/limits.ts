import { awsLimits, createCapacity, listReadUnits } from '../../../infra/capacity.ts';
import { ITEM_BYTES } from '../../../infra/documents/cost/usage.ts';
import { markdownTable } from '../../../infra/documents/markdown.ts';
import { stages } from '../../../infra/stages.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { ID_START } from '../../../shared/list-partitions.ts';

// Computes throughput limits for docs/scaling.md from production's settings and AWS's documented limits.

/** Numbers of list partitions that the tables compare. */
const LIST_PARTITIONS = [1, 2, 4, 16, 64];

const { production } = stages;
const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

type Figure = (partitions: number) => number;

const listUnits: Figure = (partitions) => listReadUnits(PAGE.default, partitions, ITEM_BYTES);
const createUnits = Math.ceil(ITEM_BYTES / 1_024);

/** Formats a number of items, such as `1,000 books`. @param plural name of the items @default - the first collection's */
export const itemCount = (items: number, plural: string = collections[0].plural) =>
  `${items.toLocaleString('en')} ${plural}`;

/** Returns the limit tables for `docs/scaling.md`. */
export function limitTables(): string {
  return [
    figureTable('Creates per second', {
      'highest valid `createsPerSecond`': (count) => validCreates(count),
      'list partitions': (count) => (count * awsLimits.keyWrites) / createUnits,
      '`maxWriteUnitsPerSecond`': () => production.maxWriteUnitsPerSecond / createUnits,
      'warm throughput of a new index': () => awsLimits.warmWrites / createUnits,
      ...accountLimits,
      "DynamoDB's quota": () => awsLimits.tableWrites / createUnits,
    }),
    figureTable(`Lists of ${itemCount(PAGE.default)} per second`, {
      '`requestsPerSecond`': () => production.requestsPerSecond,
      'list partitions': (count) => (count * awsLimits.keyReads) / listUnits(count),
      '`maxReadUnitsPerSecond`': (count) => production.maxReadUnitsPerSecond / listUnits(count),
      'warm throughput of a new index': (count) => awsLimits.warmReads / listUnits(count),
      ...accountLimits,
      "DynamoDB's quota": (count) => awsLimits.tableReads / listUnits(count),
    }),
  ].join('\n');
}

/** Limits that all requests share. */
const accountLimits: Record<string, Figure> = {
  "API Gateway's quota": () => awsLimits.gatewayRequests,
  "Lambda's quota": () => awsLimits.lambdaInvocations,
  'web ACL': () => awsLimits.webAclRequests,
};

/** Returns the highest `createsPerSecond` with which production can be synthesized. */
function validCreates(count: number): number {
  return createCapacity({ ...production, listPartitions: [{ since: ID_START, count }] }, Date.now()).rate;
}

function figureTable(title: string, figures: Record<string, Figure>): string {
  return markdownTable(
    [`${title}, by list partitions`, ...LIST_PARTITIONS.map(String)],
    Object.entries(figures).map(([name, figure]) => [
      name,
      ...LIST_PARTITIONS.map((count) => format.format(figure(count))),
    ]),
  );
}
