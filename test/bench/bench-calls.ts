import { proxyEvent } from '../../infra/local/gateway/proxy-event.ts';
import { readRoutes } from '../../infra/local/gateway/routes.ts';
import { region, type Template } from '../../infra/local/template/template.ts';

/** What a function is called with. */
export interface Call {
  /** JSON. */
  event: string;
  /** Texts that the result contains if it is right, as JSON. */
  expected: string[];
}

const PET_ID = '244813135872000';

/** The calls by the modules of functions and yardsticks. Requests are those of curl to a regional REST API. */
export function callsFor(template: Template, apiKey: string): Record<string, Call> {
  const findRoute = readRoutes(template);
  const eventOf = (method: string, path: string, { query = '', body = '' } = {}) => {
    const headers = {
      Accept: '*/*',
      Authorization: `Bearer ${apiKey}`,
      ...(body && { 'Content-Type': 'application/json' }),
      Host: `abc123.execute-api.${region}.amazonaws.com`,
      'User-Agent': 'curl/8.14.1',
      'X-Amzn-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793',
      'X-Forwarded-Port': '443',
    };
    const request = { method, path, query, body: Buffer.from(body), sourceIp: '203.0.113.7' };
    const context = {
      apiId: 'abc123',
      stage: 'staging',
      route: findRoute(method, path)!,
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      authorizer: { keyId: 'key_01JD8Z2V5W', principalId: 'key_01JD8Z2V5W', integrationLatency: 12 },
    };
    return JSON.stringify(proxyEvent({ ...request, headers: Object.entries(headers) }, context));
  };
  const list: Call = {
    event: eventOf('GET', '/v1/pets', { query: 'limit=20' }),
    expected: ['"statusCode":200', 'Rex the 0th', 'Rex the 19th'],
  };
  const create: Call = {
    event: eventOf('POST', '/v1/pets', { body: '{"name":"Rex","categoryId":7,"status":"available"}' }),
    expected: ['"statusCode":201', 'Rex'],
  };
  const methodArn = `arn:aws:execute-api:${region}:123456789012:abc123/staging/GET/v1/pets`;
  return {
    'list-pets': list,
    'bare-list': list,
    'bare-list-primed': list,
    'create-pet': create,
    'bare-create': create,
    'bare-create-primed': create,
    'get-pet': { event: eventOf('GET', `/v1/pets/${PET_ID}`), expected: ['"statusCode":200', PET_ID] },
    authorizer: {
      event: JSON.stringify({ type: 'TOKEN', authorizationToken: `Bearer ${apiKey}`, methodArn }),
      expected: ['"Effect":"Allow"'],
    },
    hello: { event: list.event, expected: ['"statusCode":200', 'world'] },
  };
}
