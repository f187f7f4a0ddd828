import { __Client as Client, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { collections } from '../../shared/contract/operations.ts';
import { environmentVariables, tableVariable } from '../../shared/names.ts';
import { books } from './books.ts';

/** Mock of all database clients. It produces faults that a real database cannot produce on demand. */
export const mock = mockClient(Client);

/** Error that the SDK throws if the condition of a write fails. */
export const conditionFailed = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});

beforeEach(() => {
  mock.reset();
});

/** Returns the inputs of all database calls in the test so far. */
export function inputs(): any[] {
  return mock.calls().map(({ args }) => args[0].input);
}

/** All environment variables that the functions read. Each table has the name of its variable, such as `API_KEYS_TABLE`. */
export const functionsEnvironment = {
  ...Object.fromEntries(
    [...Object.values(environmentVariables), ...[...collections, books].map(tableVariable)].map((name) => [
      name,
      name,
    ]),
  ),
  STAGE: 'staging',
};

/** Sets environment variables before each test in the file and restores the environment after each test. */
export function setEnvironment(variables: Record<string, string>): void {
  const before = { ...process.env };
  beforeEach(() => {
    Object.assign(process.env, variables);
  });
  afterEach(() => {
    process.env = { ...before };
  });
}
