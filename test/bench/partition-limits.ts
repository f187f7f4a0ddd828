import { assumptions, listReadUnits } from '../../infra/operate/cost/model.ts';
import { markdownTable } from '../../infra/operate/markdown-table.ts';
import type { StageSettings } from '../../infra/settings.ts';
import { stages } from '../../infra/stages.ts';
import { WRITE_UNITS_PER_SECOND } from './partition-simulation.ts';

// What a stage sustains on paper: the limits of AWS's documentation, for pets of the size in infra/operate/cost/model.ts.

/** The settings of `listPartitions` that documents and plots compare. */
export const SETTINGS = [1, 2, 4, 16];

const READ_UNITS_PER_SECOND = 3_000;
/** Of a table on demand, and of each index, that is new or was idle. */
const INITIAL = { writeUnitsPerSecond: 4_000, readUnitsPerSecond: 12_000 };
/** Written, and as many read, a second; of each index too. */
const UNITS_OF_TABLE = 40_000;
/** Of an account in most regions. */
const GATEWAY_REQUESTS_PER_SECOND = 10_000;
const CONCURRENT_EXECUTIONS = 1_000;

/** How many a second a limit lets through, as a function of `listPartitions`. */
type Limit = [name: string, perSecond: (partitions: number) => number];

function createLimits({ requestsPerSecond, maxWriteUnitsPerSecond }: StageSettings): Limit[] {
  const unitsOfPet = Math.ceil(assumptions.petBytes / 1_024);
  return [
    ['`requestsPerSecond` of the stage', () => requestsPerSecond],
    ['keys of an index', (partitions) => (partitions * WRITE_UNITS_PER_SECOND) / unitsOfPet],
    ['`maxWriteUnitsPerSecond` of the stage', () => maxWriteUnitsPerSecond / unitsOfPet],
    ['a new table on demand', () => INITIAL.writeUnitsPerSecond / unitsOfPet],
    ["API Gateway's quota of an account", () => GATEWAY_REQUESTS_PER_SECOND],
    ["DynamoDB's quota of a table", () => UNITS_OF_TABLE / unitsOfPet],
    ["Lambda's quota of an account", () => executionsPerSecond('createPet')],
  ];
}

function listLimits({ requestsPerSecond, maxReadUnitsPerSecond }: StageSettings): Limit[] {
  return [
    ['`requestsPerSecond` of the stage', () => requestsPerSecond],
    // Each list asks all keys: more of them do not share the work, each does all of it.
    ['keys of an index', () => READ_UNITS_PER_SECOND / unitsOfList(1)],
    ['`maxReadUnitsPerSecond` of the stage', (partitions) => maxReadUnitsPerSecond / unitsOfList(partitions)],
    ['a new table on demand', (partitions) => INITIAL.readUnitsPerSecond / unitsOfList(partitions)],
    ["API Gateway's quota of an account", () => GATEWAY_REQUESTS_PER_SECOND],
    ["DynamoDB's quota of a table", (partitions) => UNITS_OF_TABLE / unitsOfList(partitions)],
    ["Lambda's quota of an account", () => executionsPerSecond('listPets')],
  ];
}

function executionsPerSecond(operation: 'createPet' | 'listPets'): number {
  return (CONCURRENT_EXECUTIONS * 1_000) / assumptions.billedMilliseconds[operation];
}

function unitsOfList(partitions: number, pets = assumptions.petsPerList): number {
  return listReadUnits(partitions, pets, assumptions.petBytes);
}

export function limitTables(): string {
  return [
    tableOf('Creates a second', createLimits(stages.production)),
    tableOf('Lists of 20 a second', listLimits(stages.production)),
    tableOf('Read units of a list', [
      ['of 20 pets', (partitions) => unitsOfList(partitions, 20)],
      ['of 100 pets', (partitions) => unitsOfList(partitions, 100)],
    ]),
  ].join('\n');
}

/** A line for each limit, a column for each of `SETTINGS`. */
function tableOf(amount: string, limits: Limit[]): string {
  return markdownTable(
    [`${amount}, by \`listPartitions\``, ...SETTINGS.map((partitions) => `${partitions}`)],
    limits.map(([name, perSecond]) => [
      name,
      ...SETTINGS.map((partitions) =>
        perSecond(partitions).toLocaleString('en', { maximumSignificantDigits: 3 }),
      ),
    ]),
  );
}
