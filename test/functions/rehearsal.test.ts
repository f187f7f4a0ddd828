import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({
  STAGE: 'staging',
  PETS_TABLE: 'pets',
  API_KEYS_TABLE: 'keys',
  LIST_PARTITIONS: '1',
});

test.each([
  ['authorizer', { TableName: 'keys', Key: { hash: expect.any(String) } }],
  ['create-pet', { TableName: 'pets', Key: { id: 0n } }],
  ['get-pet', { TableName: 'pets', Key: { id: 0n } }],
  ['list-pets', { TableName: 'pets', Limit: 21 }],
])('during init, %s reads twice, as its requests do', async (name, input) => {
  process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
  mock.on(GetCommand).resolves({}).on(QueryCommand).resolves({});
  await import(`../../functions/${name}.ts`);
  expect(mock.calls().map(({ args }) => args[0].input)).toMatchObject([input, input]);
});
