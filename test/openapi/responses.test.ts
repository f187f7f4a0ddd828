import { afterAll, expect, test } from '@jest/globals';
import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import { contract, type Exchange } from '../support/contract.ts';
import { type Request, startFaultyService } from '../support/faulty-service.ts';
import { stagingTemplate } from '../support/real-database.ts';
import { resourcesOf, stackTemplate } from '../support/stack-template.ts';

// These tests produce each documented response to prove that the examples in openapi.json are real responses.

const { responses, contradictions, examples, nameOf } = contract();

let isFailing = false;
const template = await stagingTemplate();
const service = await startFaultyService(template, () =>
  isFailing ? 'connection reset before execution' : undefined,
);
afterAll(() => service.close());

/** Returns the exchanges that get a response. The first one gets the documented example. */
type Call = () => Promise<Exchange[]>;

const { listPets, createPet } = examples;
const PET_OF_NO_CLIENT = '/v1/pets/244141843387958';

/** Calls of each operation, by the status of the response. */
const calls: Record<string, Record<number, Call>> = {
  listPets: {
    200: async () => {
      const { example, headers } = responses.get('listPets 200')!;
      const [newest, next] = example as { id: number }[];
      for (const { id: _id, ...body } of [next!, next!, newest!])
        await send({ ...createPet, headers: {}, body: JSON.stringify(body) });
      const [nextPage = ''] = /\/v1[^>]*/.exec(`${headers['Link']!.example}`)!;
      return [
        await send(listPets),
        await send({ target: nextPage }),
        await send({ target: '/v1/pets?limit=100' }),
      ];
    },
    400: async () => [await send({ target: '/v1/pets?limit=0&status=nonsense' })],
    ...callsWith(listPets),
  },
  createPet: {
    201: async () => [await send(createPet)],
    400: async () => [await send({ ...createPet, headers: {}, body: '{}' })],
    422: async () => {
      const headers = { 'Idempotency-Key': '"the same key"' };
      await send({ ...createPet, headers });
      return [await send({ ...createPet, headers, body: '{"name":"Rex","categoryId":1}' })];
    },
    ...callsWith(createPet),
    413: async () => [
      await send({ ...createPet, body: ' '.repeat(1_000_000) }),
      fromGateway('REQUEST_TOO_LARGE', createPet),
      fromFirewall('LargeBody', createPet),
    ],
    415: async () => [await send({ ...createPet, headers: { 'Content-Type': 'text/plain' } })],
  },
  getPet: {
    200: async () => {
      const { response } = await send(createPet);
      return [await send({ target: `/v1/pets/${JSON.parse(response.text).id}` })];
    },
    400: async () => [fromGateway('BAD_REQUEST_PARAMETERS', { target: PET_OF_NO_CLIENT })],
    404: async () => [await send({ target: PET_OF_NO_CLIENT })],
    ...callsWith({ target: PET_OF_NO_CLIENT }),
  },
};

/** Returns the calls for the responses that all operations share. The function does not send most of them. */
function callsWith(request: Request): Record<number, Call> {
  const without = { ...request, headers: { ...request.headers, Authorization: '' } };
  return {
    401: async () => [await send(without)],
    403: async () => [fromGateway('WAF_FILTERED', request)],
    413: async () => [fromGateway('REQUEST_TOO_LARGE', request), fromFirewall('LargeBody', request)],
    415: async () => [fromGateway('UNSUPPORTED_MEDIA_TYPE', request)],
    429: async () => [fromGateway('THROTTLED', request), fromFirewall('PerKey', request)],
    500: async () => [await misconfigured(request), fromGateway('DEFAULT_5XX', request)],
    503: async () => [await unavailable(request), fromGateway('INTEGRATION_FAILURE', request)],
    504: async () => [fromGateway('INTEGRATION_TIMEOUT', request)],
  };
}

test('a response that is not documented contradicts openapi.json', async () => {
  const sent = await send(listPets);
  expect(contradictions(sent)).toEqual([]);
  const teapot = { ...sent, response: { ...sent.response, status: 418 } };
  expect(contradictions(teapot)).not.toEqual([]);
});

test('openapi.json documents every status of the gateway responses', () => {
  const gatewayResponses = template.resources('AWS::ApiGateway::GatewayResponse');
  const statuses = gatewayResponses.map(({ properties }) => properties.StatusCode);
  const documented = [...responses.keys()].map((name) => name.split(' ')[1]);
  expect(documented).toEqual(expect.arrayContaining(statuses));
});

/** Bodies of all error responses in these tests, by status. */
const errorBodies = new Map<string, string[]>();

test('each documented response occurs, with the documented headers and body, and all examples are real', async () => {
  const called = Object.keys(calls).flatMap((id) =>
    Object.keys(calls[id]!).map((status) => `${id} ${status}`),
  );
  const documented = [...responses.keys()].filter((name) => name.split(' ', 1).every((id) => id in calls));
  const problems: Record<string, string[]> = {};
  for (const name of called)
    problems[name] = responses.has(name) ? await problemsOf(name) : ['not documented'];
  expect(problems).toEqual(Object.fromEntries(documented.map((name) => [name, []])));

  // The operations share the error responses in the document, so the message in an example can be that of only one.
  const unreal = [...errorBodies].filter(([status, bodies]) => {
    const { example } = responses.get(`createPet ${status}`) ?? responses.get(`getPet ${status}`)!;
    return !bodies.includes(normalized(JSON.stringify(example)));
  });
  expect(unreal).toEqual([]);
  const statuses = [...errorBodies.keys()].toSorted();
  expect(statuses).toEqual('400 401 403 404 413 415 422 429 500 503 504'.split(' '));
});

/** Gets a response, such as `getPet 404`, and returns what differs from the document. */
async function problemsOf(name: string): Promise<string[]> {
  const [id = '', status = ''] = name.split(' ');
  const exchanges = await calls[id]![Number(status)]!();
  const problems = exchanges.flatMap(contradictions);
  const others = exchanges.map(nameOf).filter((one) => one !== name);
  for (const other of others) problems.push(`got ${other} instead`);

  const isError = Number(status) >= 400;
  const { headers, example } = responses.get(name)!;
  for (const [header, { example: value }] of Object.entries(headers)) {
    const values = exchanges.map(({ response }) => new Headers(response.headers).get(header));
    const first = values.find((one) => one !== null);
    // If API Gateway itself sends an error response of a deprecated operation, it adds no deprecation headers. So the
    // headers may be missing from responses with an error status.
    const isOmitted = first === undefined && isError;
    if (!isOmitted && normalized(first ?? '') !== normalized(`${value}`))
      problems.push(`${header} is ${first}, but its example is ${value}`);
  }
  const bodies = exchanges.map(({ response: { text } }) =>
    normalized(text && JSON.stringify(JSON.parse(text))),
  );
  if (isError) errorBodies.set(status, [...(errorBodies.get(status) ?? []), ...bodies]);
  else if (bodies[0] !== normalized(example === undefined ? '' : JSON.stringify(example)))
    problems.push(`the body is ${bodies[0]}, but the example is ${JSON.stringify(example)}`);
  return problems;
}

async function send(request: Request): Promise<Exchange> {
  return exchange(request, await service.send(request));
}

function fromGateway(responseType: string, request: Request): Exchange {
  // API Gateway can reject a request that the document allows, for example because of its headers.
  return { ...exchange(request, service.api.gatewayResponse(responseType)), mayBeRejected: true };
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

/** Sends a request while the database resets connections. Unlike throttling, the SDK retries these without long pauses. */
async function unavailable(request: Request): Promise<Exchange> {
  isFailing = true;
  const result = await send(request);
  isFailing = false;
  return result;
}

async function misconfigured(request: Request): Promise<Exchange> {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (/^(?!API_KEYS).+_TABLE$/.test(name)) delete process.env[name];
  const result = await send(request);
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
