import type { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { environmentVariables, listIndexes, serviceName } from '../../shared/names.ts';
import type { StageSettings } from '../settings.ts';
import { addLambdaFunction, type LambdaFunction, type LambdaFunctionProps } from './lambda-function.ts';
import { FIVE_MINUTES } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';
import type { Storage } from './storage.ts';

export type FunctionName = OperationId | 'authorizer';
export type PetStoreFunctions = Record<FunctionName, LambdaFunction>;

/** A stage, and what its parts need of each other. */
interface StageParts {
  stage: string;
  settings: StageSettings;
  storage: Storage;
  monitoring: Monitoring;
}

export interface StageWithFunctions extends StageParts {
  functions: PetStoreFunctions;
}

/** What is each function's own: how much memory it has, what it is told, and exactly what its code does. */
type FunctionRow = Omit<LambdaFunctionProps, 'entry' | 'description'>;

/** A row for each operation, and the authorizer. Memory is chosen by measurement: docs/performance.md, "Memory size". */
function functionRows({ stage, settings, storage }: StageParts): Record<FunctionName, FunctionRow> {
  const { pets, intents, apiKeys } = storage;
  const { service, petsTable, intentsTable, apiKeysTable, listPartitions } = environmentVariables;
  const environment = { [service]: serviceName(stage), [petsTable]: pets.tableName };
  return {
    listPets: {
      memoryMegabytes: 512,
      environment: { ...environment, [listPartitions]: settings.listPartitions.toString() },
      actions: ['dynamodb:Query'],
      resources: Object.values(listIndexes).map(({ indexName }) => `${pets.tableArn}/index/${indexName}`),
    },
    createPet: {
      memoryMegabytes: 512,
      environment: {
        ...environment,
        [intentsTable]: intents.tableName,
        // Lists have asked these keys since an earlier deployment.
        [listPartitions]: settings.recordedListPartitions.toString(),
      },
      actions: ['dynamodb:PutItem', 'dynamodb:GetItem'],
      resources: [pets.tableArn, intents.tableArn],
    },
    getPet: {
      memoryMegabytes: 512,
      environment,
      actions: ['dynamodb:GetItem'],
      resources: [pets.tableArn],
    },
    authorizer: {
      memoryMegabytes: 512,
      environment: { [environmentVariables.stage]: stage, [apiKeysTable]: apiKeys.tableName },
      actions: ['dynamodb:GetItem'],
      resources: [apiKeys.tableArn],
    },
  };
}

/** Adds the functions of a stage with their alarms. The module of `listPets` is `functions/list-pets.ts`. */
export function addFunctions(scope: Construct, props: StageParts): PetStoreFunctions {
  const functions = Object.entries(functionRows(props)).map(([name, row]) => {
    const entry = `functions/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
    const description =
      name === 'authorizer' ? 'Decides whether an API key works' : operations[name as OperationId].summary;
    const constructId = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const fn = addLambdaFunction(scope, constructId, props.settings, { ...row, entry, description });
    addAlarms(props.monitoring, fn, name === 'authorizer');
    return [name, fn];
  });
  return Object.fromEntries(functions) as PetStoreFunctions;
}

function addAlarms(monitoring: Monitoring, { name, lambda }: LambdaFunction, isAuthorizer: boolean): void {
  // What an operation's code throws becomes a response; the authorizer throws when it cannot decide.
  const failure = isAuthorizer ? 'threw, crashed or timed out' : 'crashed, timed out or could not start';
  monitoring.addAlarm(`${name}Errors`, {
    chapter: isAuthorizer ? 'Authorizer errors' : 'Function errors',
    meaning: `${name} ${failure} three times in five minutes.`,
    metric: lambda.metricErrors({ period: FIVE_MINUTES }),
    threshold: 3,
  });
  monitoring.addAlarm(`${name}Throttles`, {
    chapter: 'Function throttles',
    meaning: `Lambda refused to start ${name}.`,
    metric: lambda.metricThrottles({ period: FIVE_MINUTES }),
    threshold: 1,
  });
}
