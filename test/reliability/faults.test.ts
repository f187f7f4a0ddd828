import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { type Fault, faultNames } from '../support/fault-proxy.ts';
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts';

/** Of a call to the database, see shared/storage/database.ts. */
const ATTEMPTS = 3;

/** The faults of the next writes of a pet, by its name. */
const faultsOfWrites = new Map<string, Fault[]>();
/** The faults of the next writes of intents, and of the next reads of one item, one for each attempt. */
let faultsOfIntents: Fault[] = [];
let faultsOfReads: Fault[] = [];
let service: FaultyService;

async function chooseFault(_call: number, read: () => Promise<string>): Promise<Fault | undefined> {
  const { TableName, Key, Item } = JSON.parse(await read());
  if (Key) return faultsOfReads.shift();
  if (TableName === process.env['INTENTS_TABLE']) return faultsOfIntents.shift();
  return faultsOfWrites.get(Item?.name?.S)?.shift();
}

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  service = await startFaultyService(readTemplate('staging', assembly), chooseFault);
});
afterAll(() => service.close());

function create(name: string, key?: string): Promise<HttpResponse> {
  return service.send({
    method: 'POST',
    target: '/v1/pets',
    headers: { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
}

/** Retries after a 503, as a client does: a connection may be refused to any call. */
async function untilAvailable(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (;;) {
    const response = await send();
    if (response.status !== 503) return response;
  }
}

/** The ids of all pets in the list, by their names. */
async function listedIds(): Promise<Record<string, number[]>> {
  const { body } = await untilAvailable(() => service.send({ target: '/v1/pets?limit=100' }));
  const ids: Record<string, number[]> = {};
  for (const { id, name } of JSON.parse(body)) (ids[name] ??= []).push(id);
  return ids;
}

function idOf({ status, body }: HttpResponse): number {
  expect({ status, body }).toMatchObject({ status: 201 });
  return JSON.parse(body).id;
}

// A refused connection affects all requests, so those creates are sent alone. The others, which mostly wait, run at once.
const [errorResponse, ...others] = faultNames as [Fault, ...Fault[]];

test('a create whose write has a fault once gets a 201 and makes one pet', async () => {
  const names = others.map((fault) => `once: ${fault}`);
  for (const fault of others) faultsOfWrites.set(`once: ${fault}`, [fault]);
  const responses = await Promise.all(names.map((name) => create(name)));
  expect([...faultsOfWrites.values()].flat()).toEqual([]);
  expect(await listedIds()).toEqual(
    Object.fromEntries(responses.map((created, index) => [names[index], [idOf(created)]])),
  );
});

function keyOf(fault: Fault): string {
  return fault.replaceAll(' ', '-');
}

test('a create whose write has a fault at each attempt gets a 503, and its retry makes one pet', async () => {
  async function createUnder(fault: Fault): Promise<HttpResponse> {
    faultsOfWrites.set(
      fault,
      Array.from({ length: ATTEMPTS }, () => fault),
    );
    return create(fault, keyOf(fault));
  }
  const responses = await Promise.all(others.map(createUnder));
  responses.unshift(await createUnder(errorResponse));
  const message = expect.stringContaining('The service is temporarily unavailable.'); // not: in time
  for (const { status, headers, body } of responses) {
    const error = { code: 'service_unavailable', message, status: 503 };
    expect([status, headers['Retry-After'], JSON.parse(body)]).toEqual([503, '1', error]);
  }
  const made = await listedIds();
  const executed = faultNames.filter((fault) => fault.startsWith('executed'));
  expect(faultNames.filter((fault) => made[fault])).toEqual(executed);

  faultsOfWrites.clear();
  const retried = await Promise.all(
    faultNames.map(async (fault) => [fault, [idOf(await untilAvailable(() => create(fault, keyOf(fault))))]]),
  );
  expect(await listedIds()).toMatchObject({ ...made, ...Object.fromEntries(retried) });
});

test('creates whose calls for the intent have a fault each get a 201 and make one pet, as do their retries', async () => {
  const createAll = () => Promise.all(others.map((_, index) => create(`intent ${index}`, `intent-${index}`)));
  faultsOfIntents = [...others];
  const ids = (await createAll()).map(idOf);
  // Now they find and read the intent and the pet.
  faultsOfReads = [...others];
  expect((await createAll()).map(idOf)).toEqual(ids);
  expect([faultsOfIntents, faultsOfReads]).toEqual([[], []]);
  const listed = await listedIds();
  expect(ids.map((_, index) => listed[`intent ${index}`])).toEqual(ids.map((id) => [id]));
});
