import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { type Fault, faultNames } from '../support/fault-proxy.ts';
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts';

/** Of a call to the database, see shared/storage/database.ts. */
const ATTEMPTS = 3;

/** The fault that the next writes of a pet meet, by its name, and how many of them. */
const faultsOfWrites = new Map<string, { fault: Fault; times: number }>();
/** The faults that the next calls to intents, or the next reads of one item, meet: one each, whosever they are. */
let faultsOfIntents: Fault[] = [];
let faultsOfReads: Fault[] = [];
let service: FaultyService;

async function chooseFault(_call: number, read: () => Promise<string>): Promise<Fault | undefined> {
  const { TableName, Key, Item } = JSON.parse(await read());
  if (Key) return faultsOfReads.shift();
  if (TableName === process.env['INTENTS_TABLE']) return faultsOfIntents.shift();
  const next = faultsOfWrites.get(Item?.name?.S ?? '');
  if (!next || next.times === 0) return undefined;
  next.times -= 1;
  return next.fault;
}

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  service = await startFaultyService(readTemplate('staging', assembly), chooseFault);
});
afterAll(() => service.close());

/** Creates a pet; with its name for a key, unless it is to have none. */
function create(name: string): Promise<HttpResponse> {
  return service.send({
    method: 'POST',
    target: '/v1/pets',
    headers: {
      'Content-Type': 'application/json',
      ...(!name.startsWith(WITHOUT_KEY) && { 'Idempotency-Key': name.replaceAll(' ', '-') }),
    },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
}

/** Repeats a request as a client would: refused connections stay so for a moment. */
async function answered(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (;;) {
    const response = await send();
    if (response.status !== 503) return response;
  }
}

async function idsOf(name: string): Promise<number[]> {
  const { body } = await answered(() => service.send({ target: '/v1/pets?limit=100' }));
  const pets = JSON.parse(body) as { id: number; name: string }[];
  return pets.filter((pet) => pet.name === name).map(({ id }) => id);
}

const WITHOUT_KEY = 'without a key';
// That connections are refused is everybody's fault: these creates come one by one. The others are sent at once, as most
// of their time is waiting.
const [refused, ...others] = faultNames;
const answers = new Map<string, HttpResponse>();

async function createUnder(fault: Fault, times: number, name = `${fault}, ${times}`): Promise<void> {
  faultsOfWrites.set(name, { fault, times });
  answers.set(name, await create(name));
}

beforeAll(async () => {
  await Promise.all(
    others.flatMap((fault) => [
      createUnder(fault, 1),
      createUnder(fault, 1, `${WITHOUT_KEY}, ${fault}`),
      createUnder(fault, ATTEMPTS),
    ]),
  );
  await createUnder(refused!, ATTEMPTS);
});

async function expectMadeOnce(name: string): Promise<void> {
  const { status, body } = answers.get(name)!;
  expect(faultsOfWrites.get(name)?.times).toBe(0);
  expect(status).toBe(201);
  expect(await idsOf(name)).toEqual([JSON.parse(body).id]);
}

describe('a create whose write meets once:', () => {
  test.each(others)('%s, is answered 201 and made once', async (fault) => {
    await expectMadeOnce(`${fault}, 1`);
  });

  test.each(others)('%s, and that has no key, is answered 201 and made once', async (fault) => {
    await expectMadeOnce(`${WITHOUT_KEY}, ${fault}`);
  });
});

describe('a create whose write meets at each attempt:', () => {
  test.each(faultNames)('%s, is answered 503, and made once when it is repeated', async (fault) => {
    const name = `${fault}, ${ATTEMPTS}`;
    const { status, headers, body } = answers.get(name)!;
    expect([status, headers['Retry-After'], JSON.parse(body)]).toEqual([
      503,
      '1',
      {
        code: 'service_unavailable',
        // And not that the time was over: the attempts end well before it is.
        message: expect.stringContaining('The service cannot answer right now.'),
        status: 503,
      },
    ]);
    expect(await idsOf(name)).toHaveLength(fault.startsWith('executed') ? 1 : 0);
    faultsOfWrites.delete(name);
    const repeated = await answered(() => create(name));
    expect(repeated.status).toBe(201);
    expect(await idsOf(name)).toEqual([JSON.parse(repeated.body).id]);
  });
});

test('creates whose calls for the intent meet a fault each are answered 201 and made once, and again when repeated', async () => {
  const names = others.map((fault) => `intent, ${fault}`);
  faultsOfIntents = [...others];
  const first = await Promise.all(names.map(create));
  expect(faultsOfIntents).toEqual([]);
  expect(first.map(({ status }) => status)).toEqual(names.map(() => 201));

  // Now they find the intent, and the pet, which they read.
  faultsOfReads = [...others];
  const again = await Promise.all(names.map(create));
  expect(faultsOfReads).toEqual([]);
  expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body));
  const ids = await Promise.all(names.map(idsOf));
  expect(ids).toEqual(first.map(({ body }) => [JSON.parse(body).id]));
});
