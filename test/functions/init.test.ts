import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { collections } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { generateApiKey } from '../../shared/api-keys.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { bundleIn, createFunction, type RunningFunction } from '../../infra/local/emulator/lambda/lambda.ts';
import { exampleEvent } from '../support/api-gateway-event.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { contract } from '../support/contract.ts';
import { constructOf } from '../support/invoke.ts';
import { shortId } from '../support/logical-ids.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { functionNames } from '../support/stack-template.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const assembly = await sharedSynthesis();
const template = readTemplate(stackName('staging'), assembly);
/** An item that has only an id. It works for every collection, because functions return stored items without validation. */
const item = { id: { N: '1' } };
const { examples } = contract();
const folder = temporaryFolder();

/** Calls of the current test to the fake database: the action, such as `GetItem`, a space and the table's name. */
let calls: string[];
let respond: (response: ServerResponse, previousCalls: number) => void;
const database = createServer(async (request, response) => {
  const action = String(request.headers['x-amz-target']).split('.')[1];
  const { TableName } = (await json(request)) as { TableName: string };
  calls.push(`${action} ${TableName}`);
  respond(response, calls.length - 1);
});
const { origin: databaseEndpoint, close } = await listenOnLoopback(database);
afterAll(close);

let fn: RunningFunction;
let lines: string[];
beforeEach(() => {
  calls = [];
  lines = [];
  respond = returnItem;
});
afterEach(() => fn.close());

function returnItem(response: ServerResponse): void {
  response.setHeader('Content-Type', 'application/x-amz-json-1.0');
  response.end(JSON.stringify({ Item: item, Items: [item] }));
}

/** Source code that makes timeouts 100 times longer, so that no read during init times out on a slow machine. */
const LONG_TIMEOUTS = `const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, delay, ...others) => setTimeout(run, 100 * delay, ...others);`;

/** Starts an instance of the function with the construct name `name`. The instance runs `source` before the bundle. */
function start(name: string, source = ''): RunningFunction {
  const functions = template.resources('AWS::Lambda::Function');
  const resource = functions.find(({ logicalId }) => shortId(logicalId) === name)!;
  const file = join(folder, `${name}.mjs`);
  const bundle = pathToFileURL(bundleIn(assembly, resource)).href;
  writeFileSync(file, `${source}\nexport const { handler } = await import('${bundle}');`);
  fn = createFunction(resource, { file, databaseEndpoint, log: (line) => lines.push(line) });
  return fn;
}

describe('a new instance of a function', () => {
  const requestContext = { authorizer: { keyId: 'key_1', firstKeyId: 'key_1', canWrite: 'true' } };
  const events: Record<string, object> = {
    Authorizer: {
      type: 'TOKEN',
      authorizationToken: `Bearer ${generateApiKey('staging')}`,
      methodArn: 'arn/staging',
    },
  };
  for (const [id, example] of Object.entries(examples))
    events[constructOf(id)] = exampleEvent(example, { requestContext });

  test.each(functionNames)(
    'reads twice before its first event and emits no metrics for these reads (%s)',
    async (name) => {
      const instance = start(name, LONG_TIMEOUTS);
      expect(await instance.invoke(events[name])).toEqual({ result: expect.any(String) });
      const [callsOfFirst, linesOfFirst] = [calls, lines];
      [calls, lines] = [[], []];
      await instance.invoke(events[name]);
      const [read = ''] = callsOfFirst;
      expect(read).toMatch(/^(Query|GetItem) /);
      expect(calls.join()).toContain(read.replace(/^\w+ /, ''));
      expect(callsOfFirst).toEqual([read, read, ...calls]);
      expect(linesOfFirst).toHaveLength(lines.length);
    },
  );

  const getFunctions = collections.map(({ operations }) => constructOf(operations.get.id));

  test.each(getFunctions)(
    'handles its first event even if the database does not respond to the first read (%s)',
    async (name) => {
      respond = (response, previousCalls) => previousCalls > 0 && returnItem(response);
      const { result } = (await start(name).invoke(events[name])) as { result: string };
      expect(JSON.parse(result)).toMatchObject({ statusCode: 200 });
      // If init waited for the first read, there would be four calls: the first read, its retry, the second read and the
      // event's read.
      expect(calls.length).toBeLessThan(4);
    },
  );
});
