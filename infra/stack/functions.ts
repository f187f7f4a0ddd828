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

interface StageParts {
  stage: string;
  settings: StageSettings;
  storage: Storage;
  monitoring: Monitoring;
}

export interface StageWithFunctions extends StageParts {
  functions: PetStoreFunctions;
}

type FunctionProps = Omit<LambdaFunctionProps, 'entry' | 'description'>;

/** Returns the properties of each function. docs/performance.md, "Memory size", explains the chosen memory sizes. */
function functionProps({ stage, settings, storage }: StageParts): Record<FunctionName, FunctionProps> {
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
        // New pets are stored only in partitions that lists have queried since an earlier deployment.
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

/** Adds a stage's functions and their alarms. The code of `listPets`, for example, is in `functions/list-pets.ts`. */
export function addFunctions(scope: Construct, props: StageParts): PetStoreFunctions {
  const functions = Object.entries(functionProps(props)).map(([name, ownProps]) => {
    const entry = `functions/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
    const description =
      name === 'authorizer' ? 'Checks the API key of a request' : operations[name as OperationId].summary;
    const constructId = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const fn = addLambdaFunction(scope, constructId, props.settings, { ...ownProps, entry, description });
    addAlarms(props.monitoring, fn, name === 'authorizer');
    return [name, fn];
  });
  return Object.fromEntries(functions) as PetStoreFunctions;
}

function addAlarms(monitoring: Monitoring, { name, lambda }: LambdaFunction, isAuthorizer: boolean): void {
  // Only the authorizer throws errors to Lambda, because operations convert their errors into responses.
  const [effect, failure] = isAuthorizer
    ? ['Clients whose API key is not cached get 503 responses.', 'threw an error, crashed']
    : ['Clients get 5xx responses.', 'crashed, could not start'];
  monitoring.addAlarm(`${name}Errors`, {
    section: isAuthorizer ? 'Authorizer errors' : 'Function errors',
    description: `${effect} ${name} ${failure} or timed out 3 times in 5 minutes.`,
    metric: lambda.metricErrors({ period: FIVE_MINUTES }),
    threshold: 3,
  });
  monitoring.addAlarm(`${name}Throttles`, {
    section: 'Function throttles',
    description: `Clients get 503 responses. Lambda throttled ${name}.`,
    metric: lambda.metricThrottles({ period: FIVE_MINUTES }),
    threshold: 1,
  });
}
