/** The environment variables through which a stage configures its functions. */
export const environmentVariables = {
  stage: 'STAGE',
  petsTable: 'PETS_TABLE',
  listPartitions: 'LIST_PARTITIONS',
  apiKeysTable: 'API_KEYS_TABLE',
} as const;

export type EnvironmentVariable = (typeof environmentVariables)[keyof typeof environmentVariables];

/** @throws Error naming the variable when it is not set. */
export function requireEnvironment(name: EnvironmentVariable): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`The environment variable ${name} is not set; the stack sets it on every function.`);
  return value;
}
