import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { globSync } from 'node:fs';
import { environmentVariables } from '../../shared/names.ts';
import { clientMock, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment(Object.fromEntries(Object.values(environmentVariables).map((name) => [name, '1'])));

test.each(globSync('functions/*.ts'))('%s executes a read twice during init, and no write', async (file) => {
  process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
  mock.on(GetCommand).resolves({});
  clientMock.on(QueryCommand).resolves({});
  await import(`../../${file}`);
  const commands = [...mock.calls(), ...clientMock.calls()].map(({ args }) => args[0].constructor);
  expect([GetCommand, QueryCommand]).toContain(commands[0]);
  expect(commands).toEqual([commands[0], commands[0]]);
});
