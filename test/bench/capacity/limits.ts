import { awsLimits, createCapacity, listReadUnits } from '../../../infra/capacity.ts';
import { ITEM_BYTES } from '../../../infra/documents/cost/usage.ts';
import { markdownTable } from '../../../infra/documents/markdown.ts';
import { stages } from '../../../infra/stages.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { ID_START } from '../../../shared/list-partitions.ts';

// Computes throughput limits for docs/scaling.md from production's settings and AWS's documented limits.

/** Numbers of list partitions that the table compares. */
const LIST_PARTITIONS = [1, 2, 4, 16, 64];

const { production } = stages;
const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Requests per second that a limit allows, by its name. */
type Limits = Record<string, number>;

const { plural } = collections[0];
const createUnits = Math.ceil(ITEM_BYTES / 1_024);

/** Formats a number of items, such as `1,000 books`. @param of name of the items @default - the first collection's */
export const itemCount = (items: number, of: string = plural) => `${items.toLocaleString('en')} ${of}`;

/** Returns the table of the smallest limits of creates and lists for `docs/scaling.md`. */
export function limitTable(): string {
  return markdownTable(
    ['List partitions', 'Creates/s', 'limited by', `Lists of ${itemCount(PAGE.default)}/s`, 'limited by'],
    LIST_PARTITIONS.map((count) => [
      `${count}`,
      ...smallestOf(createLimits(count)),
      ...smallestOf(listLimits(count)),
    ]),
  );
}

function createLimits(count: number): Limits {
  return {
    'list partitions': validCreates(count, Infinity),
    '`maxWriteUnitsPerSecond`': validCreates(count),
    'warm throughput of a new index': awsLimits.warmWrites / createUnits,
    ...accountLimits,
    "DynamoDB's quota": awsLimits.tableWrites / createUnits,
  };
}

/** Returns the limits of lists except `requestsPerSecond`, which can be raised up to them. */
function listLimits(count: number): Limits {
  const units = listReadUnits(PAGE.default, count, ITEM_BYTES);
  return {
    'list partitions': (count * awsLimits.keyReads) / units,
    '`maxReadUnitsPerSecond`': production.maxReadUnitsPerSecond / units,
    'warm throughput of a new index': awsLimits.warmReads / units,
    ...accountLimits,
    "DynamoDB's quota": awsLimits.tableReads / units,
  };
}

/** Limits that all requests share. */
const accountLimits: Limits = {
  "API Gateway's quota": awsLimits.gatewayRequests,
  "Lambda's quota": awsLimits.lambdaInvocations,
  'web ACL': awsLimits.webAclRequests,
};

/**
 * Returns the highest `createsPerSecond` with which production can be synthesized.
 *
 * @param maxWriteUnitsPerSecond maximum of each table and index @default - production's
 */
function validCreates(count: number, maxWriteUnitsPerSecond: number = production.maxWriteUnitsPerSecond) {
  const listPartitions = [{ since: ID_START, count }];
  return createCapacity({ maxWriteUnitsPerSecond, listPartitions }, Date.now()).rate;
}

/** Returns the smallest limit and its name. */
function smallestOf(limits: Limits): [perSecond: string, name: string] {
  const [[name, value]] = Object.entries(limits).toSorted(([, one], [, other]) => one - other) as [
    [string, number],
  ];
  return [format.format(value), name];
}
