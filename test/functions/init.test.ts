import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { bundleIn, createFunction, type RunningFunction } from '../../infra/local/emulator/lambda/lambda.ts';
import { apiGatewayEvent, createEvent, getEvent } from '../support/api-gateway-event.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { functionNames } from '../support/stack-template.ts';

const { assembly } = await sharedSynthesis();
const template = readTemplate('PetStore-staging', assembly);
const pet = { id: { N: '1' }, name: { S: 'Rex' }, categoryId: { N: '1' } };

/** The calls that the fake database received, such as `GetItem Pets`. */
let calls: string[];
let respond: (response: ServerResponse, previousCalls: number) => void;
const database = createServer(async (request, response) => {
  const action = String(request.headers['x-amz-target']).split('.')[1];
  const { TableName } = (await json(request)) as { TableName: string };
  calls.push(`${action} ${/Pets|ApiKeys/.exec(TableName)?.[0]}`);
  respond(response, calls.length - 1);
});
const { origin: databaseEndpoint, close } = await listenOnLoopback(database);
afterAll(close);

let fn: RunningFunction;
let lines: string[];
beforeEach(() => {
  calls = [];
  lines = [];
  respond = returnPet;
});
afterEach(() => fn.close());

function returnPet(response: ServerResponse): void {
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

describe('a new instance', () => {
  const authorizationToken = `Bearer ${generateApiKey('staging')}`;
  const events: Record<string, object> = {
    GetPet: getEvent('1'),
    CreatePet: createEvent({ name: 'Rex', categoryId: 1 }),
    Authorizer: { type: 'TOKEN', authorizationToken, methodArn: 'arn/staging' },
  };

  test.each(functionNames)(
    'reads twice before its first event without counting the reads (%s)',
    async (name) => {
      const event = events[name] ?? apiGatewayEvent();
      const instance = start(name);
      expect(await instance.invoke(event)).toEqual({ result: expect.any(String) });
      const [first, second] = calls;
      expect(first).toMatch(/^(Query Pets|GetItem Pets|GetItem ApiKeys)$/);
      expect(second).toBe(first);
      const linesOfEvent = lines.length;
      await instance.invoke(event);
      expect(lines).toHaveLength(2 * linesOfEvent);
    },
  );

  test('does not wait for a database that does not respond', async () => {
    respond = (response, previousCalls) => previousCalls > 0 && returnPet(response);
    const { result } = (await start('GetPet').invoke(getEvent('1'))) as { result: string };
    expect(JSON.parse(result)).toMatchObject({ statusCode: 200 });
    // If the instance waited, it would retry the first read and execute the second read before the event.
    expect(calls.length).toBeLessThan(4);
  });

  test('returns a 503 if the database is unavailable', async () => {
    respond = (response) => response.destroy();
    const { result } = (await start('GetPet').invoke(getEvent('1'))) as { result: string };
    expect(JSON.parse(result)).toMatchObject({ statusCode: 503 });
    // The lines are the logged error and the metric for the error response.
    expect(lines.filter((line) => /"ERROR"|ErrorResponses/.test(line))).toHaveLength(2);
  });
});
