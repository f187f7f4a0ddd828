import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { HttpResponse } from '../../../../infra/local/emulator/gateway/http-message.ts';
import type { Template } from '../../../../infra/local/emulator/template/template.ts';
import type { OperationId } from '../../../../shared/contract/operations.ts';
import { contract, type Exchange } from '../../../support/contract.ts';
import { type FaultyService, type Request, startFaultyService } from '../../../support/faulty-service.ts';
import { rowOf } from '../../../support/operations.ts';
import { stagingTemplate } from '../../../support/real-database.ts';
import { resourcesOf, stackTemplate } from '../../../support/stack-template.ts';

// These tests produce each documented response to prove that the examples in openapi.json are real.

/** Returns exchanges to compare with a documented response. The first exchange must equal the documented example. */
type Call = () => Promise<Exchange[]>;

const { responses, contradictions, examples, nameOf } = contract();
const names = [...responses.keys()];

const [rex, mia] = (responses.get('listPets 200')!.example as { id: number }[]).map(({ id: _id, ...pet }) =>
  JSON.stringify(pet),
) as [string, string];

let template: Template;
let service: FaultyService;
let isThrottled = false;

beforeAll(async () => {
  template = await stagingTemplate();
  service = await startFaultyService(template, () => (isThrottled ? 'throttling error' : undefined));
});
afterAll(() => service.close());

const orders: Request = { target: '/v1/orders' };
const create = (body: string, headers: Record<string, string> = {}): Request => ({
  method: 'POST',
  target: '/v1/pets',
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
});

/** Example requests of all operations and a request that does not match an operation. */
const sampleRequests: Record<string, Request> = { ...examples, other: orders };
const { listPets: list, createPet: createOnce, getPet } = examples as Record<OperationId, Request>;

/** Calls for responses that are specific to one operation or to requests that match no operation. */
const specialCalls: Record<string, Call> = {
  'listPets 200': async () => {
    await sent(create(mia), create(mia), create(rex));
    const first = await sent({ target: list.target.replace(/&cursor=.*/, '') });
    return [...first, ...(await sent(list)), ...(await sent({ target: '/v1/pets?limit=100' }))];
  },
  'listPets 400': () => sent({ target: '/v1/pets?limit=0&status=nonsense' }),

  'createPet 201': () => sent(createOnce),
  'createPet 400': () => sent(create('{"categoryId":"7"}')),
  'createPet 413': async () => [
    ...(await sent(create(' '.repeat(65_537)))),
    exchange(createOnce, firewallResponse('LargeBody')),
  ],
  'createPet 415': () => sent(create(rex, { 'Content-Type': 'text/plain' })),
  'createPet 422': () => sent(createOnce, { ...createOnce, body: mia }),

  'getPet 200': async () => {
    const [created] = await sent(createOnce);
    const { id } = JSON.parse(created!.response.text);
    return sent({ target: getPet.target.replace(/\d+(?=\?)/, id) });
  },
  'getPet 404': () => sent({ target: '/v1/pets/244141843387958' }),

  'other 404': () => sent(orders),
  'other 405': () => sent({ target: '/v1/pets', method: 'PUT' }),
  'other 415': () => sent({ target: '/v1/pets', method: 'PUT', headers: { 'Content-Type': 'image/png' } }),
  'other 400': async () => [fromApiGateway('DEFAULT_4XX', orders)],
  'other 413': async () => [
    fromApiGateway('REQUEST_TOO_LARGE', orders),
    exchange(orders, firewallResponse('LargeBody')),
  ],
  'other 500': async () => [fromApiGateway('DEFAULT_5XX', orders)],
};

function callFor(name: string): Call {
  const [operation = ''] = name.split(' ');
  const request = sampleRequests[operation]!;
  const calls = { ...commonCalls(operation, request), ...specialCalls };
  return rowOf(calls, name, 'add a call that gets this response to `specialCalls` in responses.test.ts');
}

function commonCalls(operation: string, request: Request): Record<string, Call> {
  return {
    [`${operation} 400`]: async () => [fromApiGateway('BAD_REQUEST_PARAMETERS', request)],
    [`${operation} 401`]: () => sent({ ...request, headers: { ...request.headers, Authorization: '' } }),
    [`${operation} 403`]: async () => [fromApiGateway('WAF_FILTERED', request)],
    [`${operation} 413`]: async () => [
      ...(await sent({ ...request, body: ' '.repeat(7_000_000) })),
      exchange(request, firewallResponse('LargeBody')),
    ],
    [`${operation} 415`]: async () => [fromApiGateway('UNSUPPORTED_MEDIA_TYPE', request)],
    [`${operation} 429`]: async () => [
      fromApiGateway('THROTTLED', request),
      exchange(request, firewallResponse('PerKey')),
    ],
    [`${operation} 500`]: async () => [
      ...(await misconfigured(request)),
      fromApiGateway('DEFAULT_5XX', request),
    ],
    [`${operation} 503`]: async () => [
      ...(await throttled(request)),
      fromApiGateway('INTEGRATION_FAILURE', request),
    ],
    [`${operation} 504`]: async () => [fromApiGateway('INTEGRATION_TIMEOUT', request)],
  };
}

test('openapi.json documents every status of the gateway responses', () => {
  const gatewayResponses = template.resources('AWS::ApiGateway::GatewayResponse');
  const statuses = gatewayResponses.map(({ properties }) => properties.StatusCode);
  expect(names.map((name) => name.split(' ')[1])).toEqual(expect.arrayContaining(statuses));
});

test.each(names)('the response %s equals its example in openapi.json', async (name) => {
  const exchanges = await callFor(name)();
  const { headers, example: body } = responses.get(name)!;
  expect(exchanges.map(nameOf)).toEqual(exchanges.map(() => name));
  expect(exchanges.flatMap(contradictions)).toEqual([]);
  for (const [header, { example, required = false }] of Object.entries(headers)) {
    const values = exchanges.map(({ response }) => new Headers(response.headers).get(header));
    const first = values.find((value) => value !== null);
    expect([header, normalized(first ?? '')]).toEqual([header, normalized(example)]);
    // At least one of the responses must omit an optional header.
    expect([header, !values.includes(null)]).toEqual([header, required]);
  }
  const { text } = exchanges[0]!.response;
  expect(normalized(text && JSON.stringify(JSON.parse(text)))).toBe(normalized(JSON.stringify(body) ?? ''));
});

async function sent(...requests: Request[]): Promise<Exchange[]> {
  const exchanges = [];
  for (const request of requests) exchanges.push(exchange(request, await service.send(request)));
  return exchanges.slice(-1);
}

function fromApiGateway(responseType: string, request: Request): Exchange {
  return exchange(request, service.api.gatewayResponse(responseType));
}

/** Returns the production firewall's response to a request that the given rule blocks. */
function firewallResponse(ruleName: 'PerKey' | 'LargeBody'): HttpResponse {
  const [[, { Properties }]] = resourcesOf(stackTemplate('production'), 'AWS::WAFv2::WebACL') as any;
  const rule = Properties.Rules.find(({ Name }: { Name: string }) => Name === ruleName);
  const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = rule.Action.Block.CustomResponse;
  const { ContentType, Content } = Properties.CustomResponseBodies[CustomResponseBodyKey];
  if (ContentType !== 'APPLICATION_JSON') throw new Error(`The firewall sends ${ContentType}.`);
  const headers = ResponseHeaders.map(({ Name, Value }: Record<string, string>) => [Name, Value]);
  return {
    status: ResponseCode,
    headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
    body: Content,
  };
}

function exchange(request: Request, { status, headers, body: text }: HttpResponse): Exchange {
  const target = request.target.replace('/v1', '');
  return { method: 'GET', headers: {}, ...request, target, response: { status, headers, text } };
}

async function throttled(request: Request): Promise<Exchange[]> {
  isThrottled = true;
  const exchanges = await sent(request);
  isThrottled = false;
  return exchanges;
}

async function misconfigured(request: Request): Promise<Exchange[]> {
  const table = process.env['PETS_TABLE'];
  delete process.env['PETS_TABLE'];
  const exchanges = await sent(request);
  process.env['PETS_TABLE'] = table;
  return exchanges;
}

/** Replaces pet ids, request ids, cursors and the host, because they differ between runs. */
function normalized(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'REQUEST_ID')
    .replaceAll(/(?<=cursor=)[\w-]+/g, 'CURSOR')
    .replaceAll(/(?<=[/:])\d{15}/g, 'PET_ID')
    .replaceAll(/https?:\/\/[\w.]+(?=\/v1)/g, 'ROOT');
}
