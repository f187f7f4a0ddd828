import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import type { EnvironmentVariable } from '../../shared/names.ts';
import { client, database } from '../../shared/storage/database.ts';

/** In place of the database, for faults that a real one does not produce at will. Empty before each test. */
export const mock = mockClient(database);
/** In place of the client below it, by which lists are queried. */
export const clientMock = mockClient(client);

/** The error of a write whose condition does not hold. */
export const conditionFailed = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});

beforeEach(() => {
  mock.reset();
  clientMock.reset();
});

/** Sets these environment variables for each test of the file, and takes them back afterwards. */
export function setEnvironment(variables: Partial<Record<EnvironmentVariable, string>>): void {
  const before = { ...process.env };
  beforeEach(() => {
    Object.assign(process.env, variables);
  });
  afterEach(() => {
    process.env = { ...before };
  });
}
