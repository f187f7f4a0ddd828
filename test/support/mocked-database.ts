import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import type { EnvironmentVariable } from '../../shared/names.ts';
import { client, database } from '../../shared/storage/database.ts';

/** Replaces the document client, for faults that a real database cannot produce on demand. Reset before each test. */
export const mock = mockClient(database);
/** Replaces the DynamoDB client, which lists use directly. */
export const clientMock = mockClient(client);

/** The error of a failed conditional write. */
export const conditionFailed = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});

beforeEach(() => {
  mock.reset();
  clientMock.reset();
});

/** Sets these environment variables for each test of the file, and restores them afterwards. */
export function setEnvironment(variables: Partial<Record<EnvironmentVariable, string>>): void {
  const before = { ...process.env };
  beforeEach(() => {
    Object.assign(process.env, variables);
  });
  afterEach(() => {
    process.env = { ...before };
  });
}
