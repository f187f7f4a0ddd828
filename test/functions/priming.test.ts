import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { mock, setEnvironment } from '../support/mocked-database.ts';
import { rowOf } from '../support/operations.ts';

setEnvironment({ STAGE: 'staging', PETS_TABLE: 'pets', API_KEYS_TABLE: 'keys', LIST_PARTITIONS: '1' });

const rows: Record<string, [load: () => Promise<unknown>, read: object]> = {
  'authorizer.ts': [() => import('../../functions/authorizer.ts'), { TableName: 'keys' }],
  'create-pet.ts': [() => import('../../functions/create-pet.ts'), { TableName: 'pets', Key: { id: 0n } }],
  'get-pet.ts': [() => import('../../functions/get-pet.ts'), { TableName: 'pets', Key: { id: 0n } }],
  'list-pets.ts': [() => import('../../functions/list-pets.ts'), { TableName: 'pets', Limit: 21 }],
};

test.each(readdirSync('functions'))(
  '%s reads its table exactly twice during init and writes nothing',
  async (file) => {
    const [load, read] = rowOf(rows, file, 'add its import and read to test/functions/priming.test.ts');
    process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
    mock.on(GetCommand).resolves({});
    mock.on(QueryCommand).resolves({});
    await load();
    const inputs = mock.calls().map(({ args }) => args[0].input);
    expect(inputs).toMatchObject([read, read]);
  },
);
