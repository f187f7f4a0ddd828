import { assumptions, listReadUnits } from '../../infra/operate/cost/model.ts';
import { markdownTable } from '../../infra/operate/markdown-table.ts';
import { stages } from '../../infra/stages.ts';

// What a stage sustains according to the limits in AWS's documentation, for docs/scaling.md.

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
/** Of one execution environment, however short they are. https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html */
const INVOCATIONS_PER_SECOND = 10;

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
    '`requestsPerSecond` of the operation': () => production.requestsPerSecond,
    'keys of an index': (partitions) => (partitions * UNITS_OF_KEY[kind]) / units(partitions),
    [`\`max${kind}UnitsPerSecond\` of the stage`]: (partitions) =>
      production[`max${kind}UnitsPerSecond`] / units(partitions),
    'a new table on demand': (partitions) => UNITS_OF_NEW_TABLE[kind] / units(partitions),
    "API Gateway's quota of an account": () => GATEWAY_REQUESTS_PER_SECOND,
    "DynamoDB's quota of a table": (partitions) => UNITS_OF_TABLE / units(partitions),
    "Lambda's quota of an account": () =>
      CONCURRENT_EXECUTIONS * Math.min(1 / executionSeconds, INVOCATIONS_PER_SECOND),
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
