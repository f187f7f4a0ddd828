// The names that the stacks and the functions share.

/** The environment variables through which a stage configures its functions. */
export const environmentVariables = {
  stage: 'STAGE',
  petsTable: 'PETS_TABLE',
  intentsTable: 'INTENTS_TABLE',
  listPartitions: 'LIST_PARTITIONS',
  apiKeysTable: 'API_KEYS_TABLE',
  /** Read by Powertools: `service` of every log line, and a dimension of every metric. */
  service: 'POWERTOOLS_SERVICE_NAME',
} as const;

/** The indexes of lists, sorted by `id`: of all pets, and of those with a status. */
export const listIndexes = {
  newest: { indexName: 'newest', partitionKey: 'partition' },
  newestByStatus: { indexName: 'newest-by-status', partitionKey: 'statusPartition' },
} as const;

/** The index by which operators list and find API keys, sorted by `keyId`, which grows with time. */
export const keyIndex = { indexName: 'newest', partitionKey: 'stage', sortKey: 'keyId' } as const;

export const metricNamespace = 'PetStore';

/** What the functions count, each by the dimension `service` and those named here. */
export const metrics = {
  /** Acknowledged writes: neither a pet found again by a repetition nor one whose acknowledgement got lost. */
  petsCreated: { name: 'PetsCreated', dimensions: [] },
  /** By code of the Error body. */
  errorResponses: { name: 'ErrorResponses', dimensions: ['code'] },
  /** By operation and version of its function: what a deployment is rolled back on. */
  internalErrors: { name: 'InternalErrors', dimensions: ['operation', 'version'] },
  /** By operation and API key: who has to move before the operation goes. */
  deprecatedCalls: { name: 'DeprecatedCalls', dimensions: ['operation', 'keyId'] },
} as const;

export function stackName(stage: string): string {
  return `PetStore-${stage}`;
}

/** Name of a stage among the metrics and log lines of an account. */
export function serviceName(stage: string): string {
  return `pet-store-${stage}`;
}

export type EnvironmentVariable = (typeof environmentVariables)[keyof typeof environmentVariables];

/** @throws Error naming the variable when it is not set. */
export function requireEnvironment(name: EnvironmentVariable): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`The environment variable ${name} is not set; the stack sets it on every function.`);
  return value;
}
