import { assumptions, listReadUnits } from '../../infra/operate/cost/model.ts';
import { markdownTable } from '../../infra/operate/markdown-table.ts';
import { stages } from '../../infra/stages.ts';
import { listPartitionOf, newPetId } from '../../shared/storage/pet-id.ts';

// What a stage sustains according to the limits in AWS's documentation, in part simulated, for docs/scaling.md.

/** The settings of `listPartitions` that are compared. */
const SETTINGS = [1, 2, 4, 16];

/** Units a second of one key of an index. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
const UNITS_OF_KEY = { Write: 1_000, Read: 3_000 };
/** Of a table on demand, and of each index, that is new or was idle. */
const UNITS_OF_NEW_TABLE = { Write: 4_000, Read: 12_000 };
/** Of each kind, of a table and of each index. */
const UNITS_OF_TABLE = 40_000;
/** Of an account in most regions. */
const GATEWAY_REQUESTS_PER_SECOND = 10_000;
const CONCURRENT_EXECUTIONS = 1_000;

/** A figure as a function of `listPartitions`. */
type Figure = (partitions: number) => number;

const createUnits: Figure = () => Math.ceil(assumptions.petBytes / 1_024);
const listUnits =
  (pets: number): Figure =>
  (partitions) =>
    listReadUnits(partitions, pets, assumptions.petBytes);

/** The generated part of `docs/scaling.md` about limits. */
export function limitTables(): string {
  return [
    figureTable('Creates a second', limitsOf('Write', 'createPet', createUnits)),
    figureTable('Lists of 20 a second', limitsOf('Read', 'listPets', listUnits(20))),
    figureTable('Read units of a list', { 'of 20 pets': listUnits(20), 'of 100 pets': listUnits(100) }),
    simulationTable(),
  ].join('\n');
}

/** How many requests of an operation a second each limit allows. @param units that a request uses */
function limitsOf(
  kind: 'Write' | 'Read',
  operation: 'createPet' | 'listPets',
  units: Figure,
): Record<string, Figure> {
  const { production } = stages;
  const executionSeconds = assumptions.billedMilliseconds[operation] / 1_000;
  return {
    '`requestsPerSecond` of the stage': () => production.requestsPerSecond,
    'keys of an index': (partitions) => (partitions * UNITS_OF_KEY[kind]) / units(partitions),
    [`\`max${kind}UnitsPerSecond\` of the stage`]: (partitions) =>
      production[`max${kind}UnitsPerSecond`] / units(partitions),
    'a new table on demand': (partitions) => UNITS_OF_NEW_TABLE[kind] / units(partitions),
    "API Gateway's quota of an account": () => GATEWAY_REQUESTS_PER_SECOND,
    "DynamoDB's quota of a table": (partitions) => UNITS_OF_TABLE / units(partitions),
    "Lambda's quota of an account": () => CONCURRENT_EXECUTIONS / executionSeconds,
  };
}

function figureTable(what: string, figures: Record<string, Figure>): string {
  return markdownTable(
    [`${what}, by \`listPartitions\``, ...SETTINGS.map(String)],
    Object.entries(figures).map(([name, figure]) => [
      name,
      ...SETTINGS.map((partitions) =>
        figure(partitions).toLocaleString('en', { maximumSignificantDigits: 3 }),
      ),
    ]),
  );
}

const RATES = [500, 1_000, 2_000, 3_000, 4_000, 6_000, 10_000, 15_000, 20_000];
const SECONDS = 10;

function simulationTable(): string {
  const table = markdownTable(
    ['Throttled once or more, and answered 503, by `listPartitions`', ...SETTINGS.map(String)],
    RATES.map((rate) => [
      `${rate.toLocaleString('en')} creates a second`,
      ...SETTINGS.map((partitions) => {
        const { creates, throttled, failed } = simulateCreates(partitions, rate, SECONDS);
        return throttled === 0 ? 'none' : `${percent(throttled / creates)}, ${percent(failed / creates)}`;
      }),
    ]),
  );
  return `Simulated, ${SECONDS} s of each rate:\n\n${table}`;
}

function percent(share: number): string {
  if (share === 0) return '0 %';
  return share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(1)} %`;
}

/** At most, before the second and the third attempt of a call that is throttled: see docs/reliability.md, "Time". */
const PAUSE_MILLISECONDS = [1_000, 2_000];
const START = Date.UTC(2026, 0, 1);

/**
 * Counts creates, those that are throttled at least once, and those that fail, throttled at each attempt, if each key of
 * the index `newest` accepts 1,000 a second. Each writes one unit, as a pet of at most 1 KB does.
 *
 * Left out: burst capacity, which AWS does not promise; DynamoDB's queue between table and index, which delays throttling
 * by moments; and the SDK's retry quota, by which an instance whose calls all fail retries less often.
 * `newest-by-status` is not counted: a key of it gets at most what the one of `newest` gets.
 *
 * @param perSecond on average, at random moments, as from many clients (a Poisson process)
 */
export function simulateCreates(partitions: number, perSecond: number, seconds: number) {
  const random = randomNumbers();
  let [creates, throttled, failed] = [0, 0, 0];
  /** Creates by the millisecond of their next attempt. */
  const due = new Map<number, { partition: string; retries: number }[]>();
  let used = new Map<string, number>();
  for (let millisecond = 0; millisecond < seconds * 1_000 || due.size > 0; millisecond += 1) {
    if (millisecond % 1_000 === 0) used = new Map();
    const attempts = due.get(millisecond) ?? [];
    due.delete(millisecond);
    const arrivals = millisecond < seconds * 1_000 ? poisson(perSecond / 1_000, random) : 0;
    creates += arrivals;
    for (let arrival = 0; arrival < arrivals; arrival += 1) {
      const id = newPetId(START + millisecond, Math.floor(random() * 2 ** 12));
      attempts.push({ partition: listPartitionOf(id, partitions), retries: 0 });
    }
    for (const { partition, retries } of attempts) {
      const units = used.get(partition) ?? 0;
      if (units < UNITS_OF_KEY.Write) {
        used.set(partition, units + 1);
        continue;
      }
      if (retries === 0) throttled += 1;
      const pause = PAUSE_MILLISECONDS[retries];
      if (pause === undefined) {
        failed += 1;
        continue;
      }
      const next = millisecond + 1 + Math.floor(random() * pause);
      due.set(next, [...(due.get(next) ?? []), { partition, retries: retries + 1 }]);
    }
  }
  return { creates, throttled, failed };
}

/** The number of random events in a period that has so many on average (Knuth's method). */
function poisson(average: number, random: () => number): number {
  const end = Math.exp(-average);
  let count = 0;
  for (let product = random(); product > end; product *= random()) count += 1;
  return count;
}

/** Always the same numbers from 0 to below 1: xorshift (Marsaglia 2003), with 32 bits of state. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
