import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { petList } from '../../shared/contract/pets.ts';
import { listIndexes } from '../../shared/list-indexes.ts';
import { environmentVariables as variables } from '../../shared/names.ts';
import type { Bundles } from './bundling.ts';
import { LambdaFunction } from './lambda-function.ts';
import { FIVE_MINUTES, type StageStack } from './stage-stack.ts';
import type { Tables } from './storage.ts';

export type Functions = Record<OperationId | 'authorizer', LambdaFunction>;

export function addFunctions(stack: StageStack, bundles: Bundles, tables: Tables): Functions {
  const { stage } = stack;
  const { pets, idempotencyRecords, apiKeys } = tables;
  const environment = { [variables.petsTable]: pets.tableName };
  const functions: Functions = {
    listPets: new LambdaFunction(stack, 'ListPets', {
      bundle: bundles.get('list-pets')!,
      description: operations.listPets.summary,
      environment: { ...environment, [variables.listPartitions]: stage.listPartitions.toString() },
      actions: ['dynamodb:Query'],
      resources: listIndexes(petList).map(({ indexName }) => `${pets.tableArn}/index/${indexName}`),
    }),
    createPet: new LambdaFunction(stack, 'CreatePet', {
      bundle: bundles.get('create-pet')!,
      description: operations.createPet.summary,
      environment: {
        ...environment,
        [variables.idempotencyTable]: idempotencyRecords.tableName,
        // New pets are stored only in partitions that lists have queried since an earlier deployment.
        [variables.listPartitions]: stage.recordedListPartitions.toString(),
      },
      actions: ['dynamodb:PutItem', 'dynamodb:GetItem'],
      resources: [pets.tableArn, idempotencyRecords.tableArn],
    }),
    getPet: new LambdaFunction(stack, 'GetPet', {
      bundle: bundles.get('get-pet')!,
      description: operations.getPet.summary,
      environment,
      actions: ['dynamodb:GetItem'],
      resources: [pets.tableArn],
    }),
    authorizer: new LambdaFunction(stack, 'Authorizer', {
      bundle: bundles.get('authorizer')!,
      description: 'Checks the API key of a request',
      environment: { [variables.stage]: stage.name, [variables.apiKeysTable]: apiKeys.tableName },
      actions: ['dynamodb:GetItem'],
      resources: [apiKeys.tableArn],
    }),
  };
  addAlarms(stack, functions);
  return functions;
}

function addAlarms(stack: StageStack, functions: Functions): void {
  for (const fn of Object.values(functions)) {
    const name = fn.node.id;
    // Only the authorizer throws errors to Lambda, because operations convert their errors into responses.
    const effect =
      fn === functions.authorizer
        ? `Clients whose API key is not cached get 503 responses. ${name} threw an error, crashed`
        : `Clients get 5xx responses. ${name} crashed, could not start`;
    stack.addAlarm(`${name}Errors`, {
      section: fn === functions.authorizer ? 'Authorizer errors' : 'Function errors',
      description: `${effect} or timed out 3 times in 5 minutes.`,
      metric: fn.metricErrors({ period: FIVE_MINUTES }),
      threshold: 3,
    });
    stack.addAlarm(`${name}Throttles`, {
      section: 'Function throttles',
      description: `Clients get 503 responses. Lambda throttled ${name}.`,
      metric: fn.metricThrottles({ period: FIVE_MINUTES }),
    });
  }
}
