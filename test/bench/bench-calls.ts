import { proxyEvent } from '../../infra/local/emulator/gateway/proxy-event.ts';
import { readRoutes } from '../../infra/local/emulator/gateway/routes.ts';
import { region, type Template } from '../../infra/local/emulator/template/template.ts';

export interface Call {
  event: string;
  /** Strings that the JSON of a correct result contains. */
  expected: string[];
}

export type CallName = keyof ReturnType<typeof callsFor>;

const PET_ID = '244813135872000';
const OK = '"statusCode":200';

/** Returns the calls by name. Each event is the one that a regional REST API sends for a request from curl. */
export function callsFor(template: Template, apiKey: string) {
  const findRoute = readRoutes(template);
  const eventOf = (method: string, path: string, { query = '', body = '', idempotencyKey = '' } = {}) => {
    const headers = {
      Accept: '*/*',
      Authorization: `Bearer ${apiKey}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      Host: `abc123.execute-api.${region}.amazonaws.com`,
      'User-Agent': 'curl/8.14.1',
      'X-Amzn-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793',
      'X-Forwarded-Port': '443',
    };
    const request = { method, path, query, body: Buffer.from(body), sourceIp: '203.0.113.7' };
    const context = {
      apiId: 'abc123',
      stage: 'staging',
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      authorizer: { keyId: 'key_01JD8Z2V5W', principalId: 'key_01JD8Z2V5W', integrationLatency: 12 },
    };
    return JSON.stringify(
      proxyEvent({ ...request, headers: Object.entries(headers) }, findRoute(method, path)!, context),
    );
  };
  const methodArn = `arn:aws:execute-api:${region}:123456789012:abc123/staging/GET/v1/pets`;
  const list = eventOf('GET', '/v1/pets', { query: 'limit=20' });
  const newPet = { body: '{"name":"Rex","categoryId":7,"status":"available"}' };
  const idempotencyKey = '"e1c7d3f2-5f0b-4d7e-9a53-0c1c6d9e8f24"';
  const created = ['"statusCode":201', 'Rex'];
  return {
    list: { event: list, expected: [OK, 'Rex the 0th', 'Rex the 19th'] },
    // The first 20 pets are spread over all list partitions, so only the newest pet is always on the page.
    listPartitions: { event: list, expected: [OK, 'Rex the 0th', '; rel='] },
    create: { event: eventOf('POST', '/v1/pets', newPet), expected: created },
    createOnce: { event: eventOf('POST', '/v1/pets', { ...newPet, idempotencyKey }), expected: created },
    get: { event: eventOf('GET', `/v1/pets/${PET_ID}`), expected: [OK, PET_ID] },
    hello: { event: list, expected: [OK, 'world'] },
    authorize: {
      event: JSON.stringify({ type: 'TOKEN', authorizationToken: `Bearer ${apiKey}`, methodArn }),
      expected: ['"Effect":"Allow"'],
    },
  } satisfies Record<string, Call>;
}
