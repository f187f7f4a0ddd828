import { beforeEach } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { database } from '../../shared/storage/database.ts';

/** In place of the database, for faults that a real one does not produce at will. Empty before each test. */
export const mock = mockClient(database);

beforeEach(() => {
  mock.reset();
});
