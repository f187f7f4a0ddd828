import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { handlerOf } from '../support/invoke.ts';
import { functionsEnvironment, inputs, mock, setEnvironment } from '../support/mocked-database.ts';
import { operationTests } from '../support/operation-tests.ts';

setEnvironment(functionsEnvironment);

const reads = new Map<string, object>([['authorizer', { TableName: 'API_KEYS_TABLE' }]]);
for (const [id, { primingRead }] of operationTests) reads.set(id, primingRead);

test.each([...reads])(
  '%s reads its table exactly twice during init and writes nothing',
  async (name, read) => {
    process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
    mock.on(GetCommand).resolves({});
    mock.on(QueryCommand).resolves({});
    await handlerOf(name);
    expect(inputs()).toMatchObject([read, read]);
  },
);
