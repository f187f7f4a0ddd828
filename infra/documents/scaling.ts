import {
  awsLimits,
  createsFrom,
  largestItemBytes,
  largestItemUnits,
  leastReadUnits,
  MAX_LIST_PARTITIONS,
  latestCount,
  listReadUnits,
} from '../capacity.ts';
import { ID_START } from '../../shared/list-partitions.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { collections } from '../../shared/contract/operations.ts';
import { monthlyCost } from './cost/cost.ts';
import type { Stage } from '../settings.ts';
import type { StageContents } from './cost/contents.ts';
import { ITEM_BYTES, type Mix } from './cost/usage.ts';
import { markdownTable } from './markdown.ts';

const CLIENTS = 100;
const STORED_ITEMS = 1e9;
const RATES = [10, 100, 1_000, 10_000, 100_000];
/** Ratio of quotas, maxima and limits per client to the traffic that they must allow. */
const ROOM = 1.2;
/**
 * Numbers of physical partitions of an index, from which a plan chooses. Each physical partition accepts 1,000 write units,
 * so a new index has at least 4.
 */
const PHYSICAL_PARTITIONS = [4, 8, 12, 16, 24, 32, 39, 64, 128, 256];
/** Least chance, in a plan, that no physical partition contains more partition key values than it can serve. */
const CHANCE = 0.9;

const mixes: { name: string; mix: Mix }[] = [
  { name: 'lists', mix: { lists: 1, gets: 0, creates: 0 } },
  { name: 'creates', mix: { lists: 0, gets: 0, creates: 1 } },
  { name: 'mixed', mix: { lists: 0.8, gets: 0.15, creates: 0.05 } },
];

interface Limit {
  name: string;
  /** Requests per second of the whole mix at which the limit is reached. Infinity if no request counts toward the limit. */
  requests: number;
}

/** Returns the generated parts of docs/scaling.md that depend on the stages. `npm run capacity` writes the other parts. */
export function scalingParts(stages: StageContents[]) {
  const production = stages.find(({ stage }) => stage.name === 'production')!;
  return { 'docs/scaling.md': { present: presentTable(production), scale: scaleTable(production) } };
}

/** Returns the table of the highest rates that a stage serves with its present settings, by page size, item size and mix. */
export function presentTable({ stage }: StageContents): string {
  const { plural } = collections[0];
  const largest = largestItemBytes(collections[0]);
  const rowFor = (items: number, itemBytes: number) => {
    const first = mixes.map(({ mix }) => firstLimit(mix, stage, items, itemBytes));
    return [
      `lists of ${items} ${plural} of ${number(itemBytes)} bytes`,
      ...first.map(({ name, requests }) => `${number(Math.floor(requests))} (${name})`),
    ];
  };
  return markdownTable(
    ['Highest rate in production, requests/s', ...mixes.map(({ name }) => name)],
    [rowFor(PAGE.default, ITEM_BYTES), rowFor(PAGE.default, largest), rowFor(PAGE.maximum, largest)],
  );
}

/** Returns the limit that a mix reaches first. */
function firstLimit(mix: Mix, stage: Stage, items: number = PAGE.default, itemBytes = ITEM_BYTES): Limit {
  const limits = [newestLimit(mix, items, itemBytes), ...limitsOf(mix, stage, items, itemBytes)];
  return limits.toSorted((one, other) => one.requests - other.requests)[0]!;
}

/**
 * Returns the table of first limits, steps and costs at each scale.
 *
 * @param units write units of the largest item
 */
export function scaleTable(production: StageContents, units: number = largestItemUnits()): string {
  const rows = RATES.flatMap((rate) =>
    mixes.map(({ name, mix }) => rowOf(rate, name, mix, production, units)),
  );
  return markdownTable(['Requests/s', 'Traffic', 'First limit', 'Steps', 'Dollars per month'], rows, '---');
}

function rowOf(rate: number, name: string, mix: Mix, production: StageContents, units: number): string[] {
  const { stage } = production;
  const newest = newestLimit(mix);
  const served = Math.min(rate, newest.requests);
  const plan = planFor(served, mix, stage, units);
  const first = firstLimit(mix, stage);
  const steps = plan
    ? plan.steps.join('; ') || '–'
    : `not possible with up to ${MAX_LIST_PARTITIONS} list partitions`;
  return [
    number(rate),
    name,
    first.requests < rate ? `${first.name} (${number(Math.floor(first.requests))})` : '–',
    served < rate ? `**at most ${number(served)}** (${newest.name}): ${steps}` : steps,
    plan && served === rate ? dollars(rate, mix, plan.listPartitions, production) : '–',
  ];
}

function dollars(
  requestsPerSecond: number,
  mix: Mix,
  listPartitions: number,
  production: StageContents,
): string {
  const workload = { requestsPerSecond, mix, storedItems: STORED_ITEMS, listPartitions };
  return number(monthlyCost(workload, production), { maximumSignificantDigits: 3 });
}

/** Returns DynamoDB's limit if all clients read the first page of a list, so the same items in one physical partition. */
function newestLimit({ lists }: Mix, items: number = PAGE.default, itemBytes = ITEM_BYTES): Limit {
  const units = listReadUnits(items, 1, itemBytes);
  return { name: `newest ${collections[0].plural}`, requests: awsLimits.keyReads / units / lists };
}

/** Returns the limits of a stage with its present settings. */
function limitsOf({ lists, creates }: Mix, stage: Stage, items: number, itemBytes: number): Limit[] {
  const reads = lists * listReadUnits(items, latestCount(stage), itemBytes);
  const { requestsPerMinutePerIp, requestsPerMinutePerKey } = stage.firewall ?? {};
  return [
    { name: '`createsPerSecond`', requests: stage.createsPerSecond / creates },
    { name: '`requestsPerSecond`', requests: stage.requestsPerSecond / lists },
    { name: '`requestsPerMinutePerIp`', requests: perClient(requestsPerMinutePerIp) },
    { name: '`requestsPerMinutePerKey`', requests: perClient(requestsPerMinutePerKey) },
    { name: '`maxReadUnitsPerSecond`', requests: stage.maxReadUnitsPerSecond / reads },
    { name: 'warm reads', requests: awsLimits.warmReads / reads },
    { name: 'API Gateway', requests: awsLimits.gatewayRequests },
    { name: 'Lambda', requests: awsLimits.lambdaInvocations },
  ];
}

/**
 * Returns the number of list partitions and the steps with which a stage serves a rate, or undefined if no number of list
 * partitions is enough. The steps are in the order in which operators take them: quotas, then settings.
 */
function planFor(
  rate: number,
  mix: Mix,
  stage: Stage,
  units: number,
): { listPartitions: number; steps: string[] } | undefined {
  const creates = rate * mix.creates;
  const lists = rate * mix.lists;
  const placed =
    creates > stage.createsPerSecond
      ? placementFor(creates, units)
      : { listPartitions: latestCount(stage), warmWrites: 0 };
  if (!placed) return undefined;
  const listPartitions = Math.max(placed.listPartitions, latestCount(stage));
  const reads = ROOM * lists * listReadUnits(PAGE.default, listPartitions, ITEM_BYTES);
  const isRaised = creates > stage.createsPerSecond;
  const writes = isRaised ? createsFrom(creates, units).writeUnits : 0;
  const requestsPerSecond = Math.max(stage.requestsPerSecond, lists);
  const epochs = [{ since: ID_START, count: listPartitions }];
  // Synthesis requires at least `leastReadUnits` for lists, whatever the mix.
  const maxReads = Math.max(reads, leastReadUnits({ listPartitions: epochs, requestsPerSecond }, Date.now()));
  const perMinute = (ROOM * 60 * rate) / CLIENTS;
  const executions = ROOM * (rate / 10 + createsFrom(creates, units).burst);
  const setting = (name: keyof Stage, value: number) =>
    value > (stage[name] as number) ? `\`${name}\` ${number(Math.ceil(value))}` : [];
  const warm = [
    Math.max(awsLimits.warmReads, roundUp(reads)),
    Math.max(awsLimits.warmWrites, placed.warmWrites),
  ];
  const isCold = warm[0]! > awsLimits.warmReads || warm[1]! > awsLimits.warmWrites;
  const quota = (name: string, value: number, present: number) =>
    value > present ? `${name} ${number(roundUp(value))}` : [];
  const steps = [
    quota('Lambda', executions, awsLimits.lambdaInvocations / 10),
    quota('API Gateway', ROOM * rate, awsLimits.gatewayRequests),
    quota('web ACL', ROOM * rate, awsLimits.webAclRequests),
    quota('table', Math.max(maxReads, writes, placed.warmWrites), awsLimits.tableReads),
    isCold ? `\`warmThroughput\` ${number(warm[0]!)} reads and ${number(warm[1]!)} writes` : [],
    setting('maxReadUnitsPerSecond', maxReads),
    setting('maxWriteUnitsPerSecond', writes),
    listPartitions > latestCount(stage) ? `${listPartitions} list partitions` : [],
    setting('requestsPerSecond', lists),
    lists > stage.requestsPerSecond ? setting('requestBurst', Math.min(lists, awsLimits.gatewayBurst)) : [],
    setting('createsPerSecond', creates),
    isRaised ? setting('createBurst', createsFrom(creates, units).burst) : [],
    firewallSetting('requestsPerMinutePerIp'),
    firewallSetting('requestsPerMinutePerKey'),
  ].flat();
  return { listPartitions, steps };

  function firewallSetting(name: 'requestsPerMinutePerIp' | 'requestsPerMinutePerKey'): string | string[] {
    return stage.firewall && perMinute > stage.firewall[name] ? `\`${name}\` ${number(perMinute)}` : [];
  }
}

/**
 * Returns the number of list partitions, and the warm write units of an index, that serve a number of creates. More list
 * partitions have smaller shares of the writes, so that several fit in a physical partition. Synthesis requires enough list
 * partitions for the largest items, but nearly all items are assumed to be small.
 */
function placementFor(
  creates: number,
  largestUnits: number,
): { listPartitions: number; warmWrites: number } | undefined {
  const { partitions } = createsFrom(creates, largestUnits);
  const { writeUnits } = createsFrom(creates, Math.ceil(ITEM_BYTES / 1_024));
  // Numbers of list partitions whose writes one physical partition accepts together.
  const together = Array.from({ length: 20 }, (_, index) => index + 1);
  const options = together.flatMap((most) => {
    const listPartitions = Math.max(partitions, Math.ceil((most * writeUnits) / awsLimits.keyWrites));
    if (listPartitions > MAX_LIST_PARTITIONS) return [];
    const physical = PHYSICAL_PARTITIONS.find((each) => chanceThatFits(listPartitions, each, most) >= CHANCE);
    return physical ? [{ listPartitions, warmWrites: physical * awsLimits.keyWrites }] : [];
  });
  // A warm throughput within DynamoDB's default quota comes first, then few list partitions with little warm throughput.
  const isAboveQuota = ({ warmWrites }: (typeof options)[number]) =>
    Number(warmWrites >= awsLimits.tableWrites);
  return options.toSorted(
    (a, b) =>
      isAboveQuota(a) - isAboveQuota(b) || a.listPartitions * a.warmWrites - b.listPartitions * b.warmWrites,
  )[0];
}

/** Returns the chance that none of the physical partitions contains more than `most` of the values. */
export function chanceThatFits(values: number, physicalPartitions: number, most: number): number {
  // The chance of each number of values that are not in the physical partitions so far.
  let chances = new Map([[values, 1]]);
  for (let rest = physicalPartitions; rest > 1; rest -= 1) {
    const next = new Map<number, number>();
    for (const [left, chance] of chances) {
      // Each of these values is in the next physical partition with the chance 1 / rest.
      let binomial = (1 - 1 / rest) ** left;
      for (let here = 0; here <= Math.min(most, left); here += 1) {
        next.set(left - here, (next.get(left - here) ?? 0) + chance * binomial);
        binomial *= (left - here) / (here + 1) / (rest - 1);
      }
    }
    chances = next;
  }
  return [...chances].reduce((sum, [left, chance]) => (left <= most ? sum + chance : sum), 0);
}

/** Returns the requests per second of all clients together, if each reaches its limit per minute. */
const perClient = (perMinute = Infinity) => (CLIENTS * perMinute) / 60;
const roundUp = (value: number) => Math.ceil(value / 100) * 100;
const number = (value: number, options: Intl.NumberFormatOptions = {}) => value.toLocaleString('en', options);
