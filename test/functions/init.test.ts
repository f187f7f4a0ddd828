import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { bundleIn, createFunction, type RunningFunction } from '../../infra/local/lambda/lambda.ts';
import { apiGatewayEvent, getPetEvent, postPetEvent } from '../support/api-gateway-event.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { functionNames } from '../support/stack-template.ts';

const { assembly } = await sharedSynthesis();
const template = readTemplate('staging', assembly);
const pet = { id: { N: '1' }, name: { S: 'Rex' }, categoryId: { N: '1' } };

/** The database: what it was asked for, as `GetItem Pets`, and what it answers to the asking of so many before. */
let asked: string[];
let respond: (response: ServerResponse, before: number) => void;
const database = createServer(async (request, response) => {
  const action = String(request.headers['x-amz-target']).split('.')[1];
  const { TableName } = (await json(request)) as { TableName: string };
  asked.push(`${action} ${/Pets|ApiKeys/.exec(TableName)?.[0]}`);
  respond(response, asked.length - 1);
});
const { origin: databaseEndpoint, close } = await listenOnLoopback(database);
afterAll(close);

let fn: RunningFunction;
let lines: string[];
beforeEach(() => {
  asked = [];
  lines = [];
  respond = found;
});
afterEach(() => fn.close());

function found(response: ServerResponse): void {
  response.setHeader('Content-Type', 'application/x-amz-json-1.0');
  response.end(JSON.stringify({ Item: pet, Items: [pet] }));
}

function start(name: string): RunningFunction {
  const resource = template
    .resources('AWS::Lambda::Function')
    .find(({ logicalId }) => logicalId.startsWith(name))!;
  fn = createFunction(resource, {
    file: bundleIn(assembly, resource),
    databaseEndpoint,
    log: (line) => lines.push(line),
  });
  return fn;
}

describe('an instance that starts', () => {
  const key = generateApiKey('staging');
  const events: Record<string, object> = {
    GetPet: getPetEvent('1'),
    CreatePet: postPetEvent({ name: 'Rex', categoryId: 1 }),
    Authorizer: { type: 'TOKEN', authorizationToken: `Bearer ${key}`, methodArn: 'arn/staging' },
  };

  /** How many metrics the event counts. */
  const counted: Record<string, number> = { GetPet: 1, CreatePet: 1 };

  test.each(functionNames)('reads twice before its first event, which alone is counted: %s', async (name) => {
    const event = events[name] ?? apiGatewayEvent();
    expect(await start(name).invoke(event)).toEqual({ result: expect.any(String) });
    const [first, second] = asked;
    expect(first).toMatch(/^(Query Pets|GetItem Pets|GetItem ApiKeys)$/);
    expect(second).toBe(first);
    expect(lines).toHaveLength(counted[name] ?? 0);
  });

  test('does not wait for a database that is silent', async () => {
    respond = (response, before) => before > 0 && found(response);
    const { result } = (await start('GetPet').invoke(getPetEvent('1'))) as { result: string };
    expect(JSON.parse(result)).toMatchObject({ statusCode: 200 });
    // The first read would be given up and repeated, and the second one made, before the event is looked at.
    expect(asked.length).toBeLessThan(4);
  });

  test('lets nobody in without a database, as an authorizer', async () => {
    respond = (response) => response.destroy();
    const authorizationToken = `Bearer ${generateApiKey('staging')}`;
    const event = { type: 'TOKEN', authorizationToken, methodArn: 'arn/staging' };
    expect(await start('Authorizer').invoke(event)).toEqual({ error: expect.stringContaining('Error') });
  });

  test('comes up without a database, which the event then finds away', async () => {
    respond = (response) => response.destroy();
    const { result } = (await start('GetPet').invoke(getPetEvent('1'))) as { result: string };
    expect(JSON.parse(result)).toMatchObject({ statusCode: 503 });
    // Of the event, and nothing of what went before: the error, the refusal, the use of a deprecated operation.
    expect(lines).toHaveLength(3);
  });
});
