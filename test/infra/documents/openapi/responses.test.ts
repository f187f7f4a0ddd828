import { afterAll, expect, test } from '@jest/globals';
import type { HttpResponse } from '../../../../infra/local/emulator/gateway/http-message.ts';
import { type ErrorCode, errorCatalog } from '../../../../shared/contract/errors.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../../../shared/contract/operations.ts';
import { contract, type Exchange } from '../../../support/contract.ts';
import { type Request, startFaultyService } from '../../../support/faulty-service.ts';
import { type Call, fileOf, omittedIds, operationTests } from '../../../support/operation-tests.ts';
import { stagingTemplate } from '../../../support/real-database.ts';
import { resourcesOf, stackTemplate } from '../../../support/stack-template.ts';

// These tests produce each documented response to prove that the examples in openapi.json are real responses.

const documented = contract();
const { responses, contradictions, examples, nameOf } = documented;
const names = [...responses.keys()].filter((name) => !omittedIds.has(name.split(' ')[0]!));

let isThrottled = false;
const template = await stagingTemplate();
const service = await startFaultyService(template, () => (isThrottled ? 'throttling error' : undefined));
afterAll(() => service.close());

const elsewhere: Request = { target: '/v1/elsewhere' };
/** Calls whose requests match no operation, by response status. These calls take precedence over `commonCalls`. */
const callsOfOther: Record<number, Call> = {
  404: () => sent(elsewhere),
  405: () => sent({ target: '/v1/pets', method: 'PUT' }),
  413: async () => [
    fromApiGateway('REQUEST_TOO_LARGE', elsewhere),
    exchange(elsewhere, firewallResponse('LargeBody')),
  ],
  415: () => sent({ target: '/v1/pets', method: 'PUT', headers: { 'Content-Type': 'image/png' } }),
  500: async () => fromApiGateway('DEFAULT_5XX', elsewhere),
};

/** Returns calls that get the documented response of `id` with `status`. The first response has the example's body. */
function callsFor(id: OperationId | 'other', status: number): Call[] {
  if (id === 'other') return [callsOfOther[status] ?? commonCalls(elsewhere)[status]!];
  const { success, errors }: Operation = operations[id];
  const ownErrors = Object.keys(errors).map((code) => errorCatalog[code as ErrorCode].status);
  const call = operationTests.get(id)!.responses[status];
  if (!call && [success.status, ...ownErrors].includes(status))
    throw new Error(`In \`responses\` in ${fileOf(id)}, add a call that gets a ${status}.`);
  return [call, commonCalls(examples[id])[status]].filter((one) => one !== undefined);
}

/** Returns the calls for the responses that all operations share, by status. */
function commonCalls(request: Request): Record<number, Call> {
  return {
    400: async () => ({ ...fromApiGateway('BAD_REQUEST_PARAMETERS', request), mayBeRejected: true }),
    401: () => sent({ ...request, headers: { ...request.headers, Authorization: '' } }),
    403: async () => fromApiGateway('WAF_FILTERED', request),
    413: async () => [
      await sent({ ...request, body: ' '.repeat(7_000_000) }),
      exchange(request, firewallResponse('LargeBody')),
    ],
    415: async () => fromApiGateway('UNSUPPORTED_MEDIA_TYPE', request),
    429: async () => [fromApiGateway('THROTTLED', request), exchange(request, firewallResponse('PerKey'))],
    500: async () => [await misconfigured(request), fromApiGateway('DEFAULT_5XX', request)],
    503: async () => [await throttled(request), fromApiGateway('INTEGRATION_FAILURE', request)],
    504: async () => fromApiGateway('INTEGRATION_TIMEOUT', request),
  };
}

test('openapi.json documents every status of the gateway responses', () => {
  const gatewayResponses = template.resources('AWS::ApiGateway::GatewayResponse');
  const statuses = gatewayResponses.map(({ properties }) => properties.StatusCode);
  const documentedStatuses = [...responses.keys()].map((name) => name.split(' ')[1]);
  expect(documentedStatuses).toEqual(expect.arrayContaining(statuses));
});

test.each(names)('the response %s equals its example in openapi.json', async (name) => {
  const [id, status] = name.split(' ') as [OperationId | 'other', string];
  const calls = callsFor(id, Number(status));
  const exchanges = (await Array.fromAsync(calls, (call) => call(sent, documented))).flat();
  const { headers, example: body } = responses.get(name)!;
  expect(exchanges.map(nameOf)).toEqual(exchanges.map(() => name));
  expect(exchanges.flatMap(contradictions)).toEqual([]);
  for (const [header, { example, required = false }] of Object.entries(headers)) {
    const values = exchanges.map(({ response }) => new Headers(response.headers).get(header));
    const first = values.find((value) => value !== null);
    expect([header, normalized(first ?? '')]).toEqual([header, normalized(example)]);
    // An optional header must be absent from at least one of the responses.
    expect([header, !values.includes(null)]).toEqual([header, required]);
  }
  const { text } = exchanges[0]!.response;
  expect(normalized(text && JSON.stringify(JSON.parse(text)))).toBe(normalized(JSON.stringify(body) ?? ''));
});

async function sent(request: Request): Promise<Exchange> {
  return exchange(request, await service.send(request));
}

function fromApiGateway(responseType: string, request: Request): Exchange {
  return exchange(request, service.api.gatewayResponse(responseType));
}

/** Returns the response of production's web ACL to a request that the rule `ruleName` blocks. */
function firewallResponse(ruleName: 'PerKey' | 'LargeBody'): HttpResponse {
  const [[, { Properties }]] = resourcesOf(stackTemplate('production'), 'AWS::WAFv2::WebACL') as any;
  const rule = Properties.Rules.find(({ Name }: { Name: string }) => Name === ruleName);
  const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = rule.Action.Block.CustomResponse;
  const { ContentType, Content } = Properties.CustomResponseBodies[CustomResponseBodyKey];
  if (ContentType !== 'APPLICATION_JSON') throw new Error(`The firewall must not send ${ContentType}.`);
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

/** Replaces pet ids, request ids, cursors and hosts, which differ between runs. */
function normalized(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'REQUEST_ID')
    .replaceAll(/(?<=cursor=)[\w-]+/g, 'CURSOR')
    .replaceAll(/(?<=[/:])\d{15}/g, 'ID')
    .replaceAll(/https?:\/\/[\w.]+(?=\/v1)/g, 'ROOT');
}
