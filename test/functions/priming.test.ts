import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { clientMock, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ STAGE: 'staging', PETS_TABLE: 'pets', API_KEYS_TABLE: 'keys', LIST_PARTITIONS: '1' });

test.each([
  [
    'authorizer',
    () => import('../../functions/authorizer.ts'),
    { TableName: 'keys', Key: { hash: expect.any(String) } },
  ],
  ['create-pet', () => import('../../functions/create-pet.ts'), { TableName: 'pets', Key: { id: 0n } }],
  ['get-pet', () => import('../../functions/get-pet.ts'), { TableName: 'pets', Key: { id: 0n } }],
  ['list-pets', () => import('../../functions/list-pets.ts'), { TableName: 'pets', Limit: 21 }],
])('%s reads from its table twice during init', async (_name, load, input) => {
  process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
  mock.on(GetCommand).resolves({});
  clientMock.on(QueryCommand).resolves({});
  await load();
  const inputs = [...mock.calls(), ...clientMock.calls()].map(({ args }) => args[0].input);
  expect(inputs).toMatchObject([input, input]);
});
