import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { environmentVariables, listIndexes, serviceName } from '../../shared/names.ts';
import { operations } from '../../shared/contract/operations.ts';
import { PetStoreFunction } from './lambda-function.ts';
import type { StageSettings } from '../settings.ts';
import type { Storage } from './storage.ts';

export type OperationId = keyof typeof operations;
export type FunctionName = OperationId | 'authorizer';
export type PetStoreFunctions = Record<FunctionName, PetStoreFunction>;

interface FunctionsProps {
  stage: string;
  settings: StageSettings;
  storage: Storage;
}

/** The functions of a stage, each with exactly the permission that its code makes use of. */
export function createFunctions(
  scope: Construct,
  { stage, settings, storage }: FunctionsProps,
): PetStoreFunctions {
  const { pets, intents, apiKeys } = storage;
  const memory = settings.functionMemoryMegabytes;
  const environment = {
    [environmentVariables.service]: serviceName(stage),
    [environmentVariables.petsTable]: pets.tableName,
  };

  const listPets = new PetStoreFunction(scope, 'ListPets', {
    module: 'list-pets',
    description: operations.listPets.summary,
    settings,
    memoryMegabytes: memory.listPets,
    environment: {
      ...environment,
      [environmentVariables.listPartitions]: settings.listPartitions.toString(),
    },
    permission: allow(
      ['dynamodb:Query'],
      Object.values(listIndexes).map(({ indexName }) => `${pets.tableArn}/index/${indexName}`),
    ),
  });
  const createPet = new PetStoreFunction(scope, 'CreatePet', {
    module: 'create-pet',
    description: operations.createPet.summary,
    settings,
    memoryMegabytes: memory.createPet,
    environment: {
      ...environment,
      [environmentVariables.intentsTable]: intents.tableName,
      // Lists have asked these keys since an earlier deployment.
      [environmentVariables.listPartitions]: settings.recordedListPartitions.toString(),
    },
    permission: allow(['dynamodb:PutItem', 'dynamodb:GetItem'], [pets.tableArn, intents.tableArn]),
  });
  const getPet = new PetStoreFunction(scope, 'GetPet', {
    module: 'get-pet',
    description: operations.getPet.summary,
    settings,
    memoryMegabytes: memory.getPet,
    environment,
    permission: allow(['dynamodb:GetItem'], [pets.tableArn]),
  });
  const authorizer = new PetStoreFunction(scope, 'Authorizer', {
    module: 'authorizer',
    description: 'Decides whether an API key works',
    settings,
    memoryMegabytes: memory.authorizer,
    environment: {
      [environmentVariables.stage]: stage,
      [environmentVariables.apiKeysTable]: apiKeys.tableName,
    },
    permission: allow(['dynamodb:GetItem'], [apiKeys.tableArn]),
  });

  return { listPets, createPet, getPet, authorizer };
}

function allow(actions: string[], resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources });
}
