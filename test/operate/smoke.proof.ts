import { expect, jest, test } from '@jest/globals';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import { readOnlyTest } from '../../infra/operate/read-only-test.ts';
import { awsRejections } from '../http/aws-rejections.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { stagingTemplate } from '../support/real-database.ts';
import { runModule } from '../support/run-command.ts';
import { startFakeAws } from './fake-aws.ts';

/** Maximum number of concurrent requests, half of the ten concurrent invocations that a new AWS account allows. */
const MAX_AT_ONCE = 5;
/** One in this many idempotent requests gets a 503 after the function has run. */
const FAILED_ONE_IN = 50;

/**
 * Starts a stage behind a gateway that is at least as strict as AWS. Requests that match an entry in aws-rejections.ts
 * get an HTML response or no response. Other requests can get a 429, or a 503 after the function has run. The functions
 * receive all request bodies in Base64.
 */
async function startStrictGateway() {
  const service = await startFaultyService(await stagingTemplate());
  for (const [name, handler] of Object.entries(service.handlers)) {
    service.handlers[name] = (event, context) => handler({ ...event, isBase64Encoded: true }, context);
  }
  const counts = { throttled: 0, failed: 0 };
  const rejected = new Set<unknown>();
  let [handling, retriable] = [0, 0];

  async function respond(incoming: IncomingMessage): Promise<HttpResponse | undefined> {
    const { method = '', url: target = '' } = incoming;
    const headers = incoming.headers as Record<string, string>;
    const body = await buffer(incoming);
    const rejection = awsRejections.find(({ matches }) => matches({ method, target, headers, body }));
    if (rejection) {
      rejected.add(rejection);
      const { status } = rejection;
      return status ? { status, headers: { 'Content-Type': 'text/html' }, body: '<html></html>' } : undefined;
    }
    if (handling > MAX_AT_ONCE) {
      counts.throttled += 1;
      return service.api.gatewayResponse('THROTTLED');
    }
    const request = { method, target, headers: Object.entries(headers), body: body.toString('base64') };
    const response = await service.handle(request);
    const isRetriable = method === 'GET' || headers['idempotency-key'] !== undefined;
    retriable += Number(isRetriable);
    if (!isRetriable || retriable % FAILED_ONE_IN > 0) return response;
    counts.failed += 1;
    return service.api.gatewayResponse('INTEGRATION_FAILURE');
  }

  const server = createServer({ maxHeaderSize: 65_536 }, async (incoming, outgoing) => {
    handling += 1;
    const response = await respond(incoming);
    handling -= 1;
    if (response) outgoing.writeHead(response.status, response.headers).end(response.body);
    else incoming.socket.resetAndDestroy();
  });
  const { origin, close } = await listenOnLoopback(server);
  return {
    baseUrl: `${origin}/v1`,
    apiKey: service.apiKey,
    store: service.store,
    counts,
    /** Entries in aws-rejections.ts that at least one request has matched. */
    rejected,
    close: () => Promise.all([close(), service.close()]),
  };
}

test('the smoke test and the read-only test pass despite throttling and error responses from AWS', async () => {
  const gateway = await startStrictGateway();
  const { baseUrl, apiKey, counts, rejected } = gateway;
  const aws = await startFakeAws({ outputs: { BaseUrl: baseUrl, ApiKeysTable: 'unused' } });
  const printed = jest.spyOn(console, 'log').mockReturnValue();
  // The import follows the start of the gateway, because the SDK keeps its first endpoint.
  const { issueApiKey } = await import('../../infra/operate/key-store.ts');
  const issued = await issueApiKey(gateway.store, { owner: 'a test', readOnly: true, caller: 'a test' });
  const stage = { stage: 'staging', baseUrl, apiKey: issued.key };
  await readOnlyTest(stage, new AbortController().signal);
  printed.mockRestore();
  const environment = { ...aws.environment, API_KEY: apiKey };
  const outcome = await runModule('infra/operate/smoke.ts', ['--stage', 'staging'], environment);
  await Promise.all([gateway.close(), aws.close()]);

  const summary = expect.stringMatching(/^Test Suites: (\d+) passed, \1 total$/m);
  const stdout = expect.stringContaining(`\n${baseUrl} passed the HTTP tests.\n`);
  expect(outcome).toEqual({ code: 0, stdout, stderr: summary });
  expect(rejected).toEqual(new Set(awsRejections));
  expect(counts.throttled).toBeGreaterThan(0);
  expect(counts.failed).toBeGreaterThan(0);
});
