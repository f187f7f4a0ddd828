import { afterAll, expect, test } from '@jest/globals';
import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import { errorCatalog } from '../../shared/contract/errors.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { operationTests } from '../collections/all.ts';
import { contract, type Exchange } from '../support/contract.ts';
import { type Request, startFaultyService } from '../support/faulty-service.ts';
import { stagingTemplate } from '../support/real-database.ts';
import { resourcesOf, stackTemplate } from '../support/stack-template.ts';

// These tests produce each documented response to prove that the examples in openapi.json are real responses.

const documented = contract();
const { responses, contradictions, examples, nameOf } = documented;

let isThrottled = false;
const template = await stagingTemplate();
const service = await startFaultyService(template, () => (isThrottled ? 'throttling error' : undefined));
afterAll(() => service.close());

const operationIds = Object.keys(operations) as OperationId[];

/**
 * Calls that get the responses that all operations share, with an operation's example request. The files in
 * test/collections/ contain the calls for all other responses.
 */
const calls: [status: number, call: (request: Request) => Exchange | Promise<Exchange>][] = [
  [400, (request) => ({ ...fromApiGateway('BAD_REQUEST_PARAMETERS', request), mayBeRejected: true })],
  [401, (request) => sent({ ...request, headers: { ...request.headers, Authorization: '' } })],
  [403, (request) => fromApiGateway('WAF_FILTERED', request)],
  [413, (request) => sent({ ...request, body: ' '.repeat(7_000_000) })],
  [413, (request) => fromFirewall('LargeBody', request)],
  [415, (request) => fromApiGateway('UNSUPPORTED_MEDIA_TYPE', request)],
  [429, (request) => fromApiGateway('THROTTLED', request)],
  [429, (request) => fromFirewall('PerKey', request)],
  [500, misconfigured],
  [500, (request) => fromApiGateway('DEFAULT_5XX', request)],
  [503, throttled],
  [503, (request) => fromApiGateway('INTEGRATION_FAILURE', request)],
  [504, (request) => fromApiGateway('INTEGRATION_TIMEOUT', request)],
];

/** Gets the response of the operation `id` with `status` in all known ways. Returns each request with its response. */
async function exchangesOf(id: OperationId, status: number): Promise<Exchange[]> {
  const shared = calls.filter(([callStatus]) => callStatus === status);
  return [
    ...(await ownExchangesOf(id, status)),
    ...(await Array.fromAsync(shared, ([, call]) => call(examples[id]))),
  ];
}

async function ownExchangesOf(id: OperationId, status: number): Promise<Exchange[]> {
  const { success, errors }: Operation = operations[id];
  const required = [success.status, ...errors.map((code) => errorCatalog[code].status)];
  // The types allow operations and statuses without a call, so this check names what is missing.
  const call = operationTests[id]?.responses[status];
  if (!call && required.includes(status))
    throw new Error(`In test/collections/, add a call to ${id} that gets a ${status}.`);
  return call ? [await call(sent, documented)].flat() : [];
}

test('openapi.json documents every status of the gateway responses', () => {
  const gatewayResponses = template.resources('AWS::ApiGateway::GatewayResponse');
  const statuses = gatewayResponses.map(({ properties }) => properties.StatusCode);
  const documentedStatuses = [...responses.keys()].map((name) => name.split(' ')[1]);
  expect(documentedStatuses).toEqual(expect.arrayContaining(statuses));
});

test.each([...responses.keys()])('the response %s has the documented headers and body', async (name) => {
  const [id, status] = name.split(' ') as [OperationId, string];
  const exchanges = await exchangesOf(id, Number(status));
  expect(exchanges.map(nameOf)).toEqual(exchanges.map(() => name));
  expect(exchanges.flatMap(contradictions)).toEqual([]);
  for (const [header, { example }] of Object.entries(responses.get(name)!.headers)) {
    const values = exchanges.map(({ response }) => new Headers(response.headers).get(header));
    const first = values.find((value) => value !== null);
    // If API Gateway itself sends an error response of a deprecated operation, it adds no deprecation headers. So the
    // headers may be missing from responses with an error status.
    const isOmitted = first === undefined && isError(status);
    expect([header, isOmitted || normalized(first ?? '')]).toEqual([
      header,
      isOmitted || normalized(`${example}`),
    ]);
  }
});

test.each([...responses.keys()].filter((name) => !isError(name.split(' ')[1]!)))(
  'the example of the response %s is the body of the response',
  async (name) => {
    const [id, status] = name.split(' ') as [OperationId, string];
    const [first] = await exchangesOf(id, Number(status));
    expect(bodyOf(first!)).toBe(normalized(JSON.stringify(responses.get(name)!.example) ?? ''));
  },
);

// The operations share the components of error responses, so the message in an example can be that of only one operation.
const errorStatuses = new Set([...responses.keys()].map((name) => name.split(' ')[1]!).filter(isError));
test.each([...errorStatuses])('the example of the %s is the body of a response', async (status) => {
  const ids = operationIds.filter((id) => responses.has(`${id} ${status}`));
  const exchanges = (await Array.fromAsync(ids, (id) => exchangesOf(id, Number(status)))).flat();
  const { example } = responses.get(`${ids[0]!} ${status}`)!;
  expect(exchanges.map(bodyOf)).toContain(normalized(JSON.stringify(example)));
});

function isError(status: string): boolean {
  return Number(status) >= 400;
}

function bodyOf({ response: { text } }: Exchange): string {
  return normalized(text && JSON.stringify(JSON.parse(text)));
}

async function sent(request: Request): Promise<Exchange> {
  return exchange(request, await service.send(request));
}

function fromApiGateway(responseType: string, request: Request): Exchange {
  return exchange(request, service.api.gatewayResponse(responseType));
}

/** Returns the response of production's web ACL to a request that the rule `ruleName` blocks. */
function fromFirewall(ruleName: 'PerKey' | 'LargeBody', request: Request): Exchange {
  const [[, { Properties }]] = resourcesOf(stackTemplate('production'), 'AWS::WAFv2::WebACL') as any;
  const rule = Properties.Rules.find(({ Name }: { Name: string }) => Name === ruleName);
  const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = rule.Action.Block.CustomResponse;
  const { ContentType, Content } = Properties.CustomResponseBodies[CustomResponseBodyKey];
  if (ContentType !== 'APPLICATION_JSON') throw new Error(`The firewall must not send ${ContentType}.`);
  const headers = ResponseHeaders.map(({ Name, Value }: Record<string, string>) => [Name, Value]);
  return exchange(request, {
    status: ResponseCode,
    headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
    body: Content,
  });
}

function exchange(request: Request, { status, headers, body: text }: HttpResponse): Exchange {
  const target = request.target.replace('/v1', '');
  return { method: 'GET', headers: {}, ...request, target, response: { status, headers, text } };
}

async function throttled(request: Request): Promise<Exchange> {
  isThrottled = true;
  const result = await sent(request);
  isThrottled = false;
  return result;
}

async function misconfigured(request: Request): Promise<Exchange> {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (/^(?!API_KEYS).+_TABLE$/.test(name)) delete process.env[name];
  const result = await sent(request);
  process.env = before;
  return result;
}

/** Replaces ids, request ids, cursors and hosts, which differ between runs. */
function normalized(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'REQUEST_ID')
    .replaceAll(/(?<=cursor=)[\w-]+/g, 'CURSOR')
    .replaceAll(/(?<=[/:])\d{15}/g, 'ID')
    .replaceAll(/https?:\/\/[\w.]+(?=\/v1)/g, 'ROOT');
}
