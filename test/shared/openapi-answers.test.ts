import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/assembly.ts';
import type { HttpResponse } from '../../infra/local/http-message.ts';
import { staticResponse } from '../../infra/local/integrations.ts';
import type { Template } from '../../infra/local/template.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { contract, type Exchange } from '../support/contract.ts';
import { type FaultyService, type Request, startFaultyService } from '../support/faulty-service.ts';

// Every answer that openapi.json documents is produced here, so that none is made up, its example least of all.

jest.setTimeout(60_000); // for the synthesis

/** Gives what is to be held against one documented answer, its example's first. */
type Way = () => Promise<Exchange[]>;

const { answers, contradictions, nameOf } = contract();
const names = [...answers.keys()];

const rex = '{"name":"Rex","categoryId":7,"status":"available"}';
const mia = '{"name":"Mia","categoryId":7,"status":"available"}';

let template: Template;
let service: FaultyService;
let isThrottled = false;

beforeAll(async () => {
  template = readTemplate('staging', (await sharedSynthesis()).assembly);
  service = await startFaultyService(template, () => (isThrottled ? 'throttled' : undefined));
});
afterAll(() => service.close());

const list: Request = { target: '/v1/pets' };
const get: Request = { target: '/v1/pets/1' };
const create = (body: string, headers: Record<string, string> = {}): Request => ({
  method: 'POST',
  target: '/v1/pets',
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
});

const ways: Record<string, Way> = {
  'listPets 200': async () => {
    await sent(create(mia), create(mia), create(rex));
    const first = await sent({ target: '/v1/pets?limit=2&status=available' });
    return [...first, ...(await sent({ target: '/v1/pets?limit=100' }))];
  },
  'listPets 400': () => sent({ target: '/v1/pets?limit=0&status=lost' }),
  ...refusalsOfAll('listPets', list),

  'createPet 201': () => sent(create(rex)),
  'createPet 400': () => sent(create('{"categoryId":"7"}')),
  'createPet 415': () => sent(create(rex, { 'Content-Type': 'text/plain' })),
  'createPet 422': async () => {
    const headers = { 'Idempotency-Key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' };
    await sent(create(rex, headers));
    return sent(create(mia, headers));
  },
  ...refusalsOfAll('createPet', create(rex)),
  'createPet 413': () => sent(create(' '.repeat(65_537))),

  'getPet 200': async () => {
    const [created] = await sent(create(rex));
    return sent({ target: `/v1/pets/${JSON.parse(created!.answer.text).id}` });
  },
  'getPet 400': async () => [givenByApiGateway('BAD_REQUEST_PARAMETERS', get)],
  'getPet 404': () => sent({ target: '/v1/pets/244141843387958' }),
  ...refusalsOfAll('getPet', get),

  'other 404': () => sent({ target: '/v1/orders' }),
  'other 405': () => sent({ ...list, method: 'PUT' }),
  'other 415': () => sent({ ...list, method: 'PUT', headers: { 'Content-Type': 'image/png' } }),
};

/** Ways to what may come of any operation. */
function refusalsOfAll(operation: string, request: Request): Record<string, Way> {
  return {
    [`${operation} 401`]: () => sent({ ...request, headers: { ...request.headers, Authorization: '' } }),
    [`${operation} 403`]: async () => [givenByApiGateway('WAF_FILTERED', request)],
    [`${operation} 413`]: () => sent({ ...request, body: ' '.repeat(7_000_000) }),
    [`${operation} 429`]: async () => [givenByApiGateway('THROTTLED', request)],
    [`${operation} 500`]: () => misconfigured(() => sent(request)),
    [`${operation} 503`]: () => throttled(() => sent(request)),
    [`${operation} 504`]: async () => [givenByApiGateway('INTEGRATION_TIMEOUT', request)],
  };
}

describe('The document', () => {
  test('has an answer for each way that there is to one, and no other', () => {
    expect(names.toSorted()).toEqual(Object.keys(ways).toSorted());
  });
});

describe.each(names)('%s', (name) => {
  let exchanges: Exchange[];

  beforeAll(async () => {
    exchanges = await ways[name]!();
  });

  test('happens, as it is documented', () => {
    expect(exchanges.map(nameOf)).toEqual(exchanges.map(() => name));
    expect(exchanges.flatMap(contradictions)).toEqual([]);
  });

  test('has every header that is documented, with such a value as the example', () => {
    const given = new Map(exchanges.toReversed().flatMap(({ answer }) => [...new Headers(answer.headers)]));
    for (const [header, { example }] of Object.entries(answers.get(name)!.headers)) {
      expect([header, ageless(given.get(header.toLowerCase()) ?? '')]).toEqual([header, ageless(example)]);
    }
  });

  test('has such a body as the example', () => {
    const body = JSON.parse(exchanges[0]!.answer.text);
    expect(ageless(JSON.stringify(body))).toBe(ageless(JSON.stringify(answers.get(name)!.example)));
  });
});

/** Sends the requests one after the other; gives what came of the last one. */
async function sent(...requests: Request[]): Promise<Exchange[]> {
  const exchanges = [];
  for (const request of requests) exchanges.push(exchange(request, await service.send(request)));
  return exchanges.slice(-1);
}

/** An answer that only API Gateway on AWS has occasion to give, as the template has it. */
function givenByApiGateway(responseType: string, request: Request): Exchange {
  const { properties } = template
    .resources('AWS::ApiGateway::GatewayResponse')
    .find(({ properties: { ResponseType } }) => ResponseType === responseType)!;
  const { headers, body, ...response } = staticResponse(properties);
  const requestId = 'd1ae6f8c-8b54-4ecd-a3f0-1d9fdc9a4d0e';
  return exchange(request, {
    ...response,
    headers: { ...headers, 'x-amzn-RequestId': requestId },
    body: body.replaceAll('$context.requestId', requestId),
  });
}

function exchange({ method = 'GET', target, headers = {}, body }: Request, response: HttpResponse): Exchange {
  const answer = { status: response.status, headers: response.headers, text: response.body };
  return { method, target: target.replace('/v1', ''), headers, body, answer };
}

/** With every call to the database refused for too many. */
async function throttled(send: () => Promise<Exchange[]>): Promise<Exchange[]> {
  isThrottled = true;
  const exchanges = await send();
  isThrottled = false;
  return exchanges;
}

/** With functions that lack the name of their table. */
async function misconfigured(send: () => Promise<Exchange[]>): Promise<Exchange[]> {
  const table = process.env['PETS_TABLE'];
  delete process.env['PETS_TABLE'];
  const exchanges = await send();
  process.env['PETS_TABLE'] = table;
  return exchanges;
}

/** Text with what differs from one run to another made equal: ids of pets and requests, cursors, the host. */
function ageless(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'REQUEST_ID')
    .replaceAll(/(?<=cursor=)[\w-]+/g, 'CURSOR')
    .replaceAll(/(?<=[/:])\d{15}/g, 'PET_ID')
    .replaceAll(/https?:\/\/[\w.]+(?=\/v1)/g, 'ROOT');
}
