// The names that the stacks and the functions share.

/** The environment variables through which a stage configures its functions. */
export const environmentVariables = {
  stage: 'STAGE',
  petsTable: 'PETS_TABLE',
  listPartitions: 'LIST_PARTITIONS',
  apiKeysTable: 'API_KEYS_TABLE',
} as const;

/**
 * The indexes that serve lists, each sparse and sorted by `id`: `newest` holds all pets, `newest-by-status` those
 * with a status.
 */
export const listIndexes = {
  newest: { indexName: 'newest', partitionKey: 'partition' },
  newestByStatus: { indexName: 'newest-by-status', partitionKey: 'statusPartition' },
} as const;

export type EnvironmentVariable = (typeof environmentVariables)[keyof typeof environmentVariables];

/** @throws Error naming the variable when it is not set. */
export function requireEnvironment(name: EnvironmentVariable): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`The environment variable ${name} is not set; the stack sets it on every function.`);
  return value;
}
