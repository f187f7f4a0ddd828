import { afterAll, expect, test } from '@jest/globals';
import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { type Fault, faultNames } from '../support/fault-proxy.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { stagingTemplate } from '../support/real-database.ts';
import { newPet } from '../support/pets.ts';

/** Number of attempts per database call, as in shared/storage/database.ts. */
const ATTEMPTS = 3;

/** For each pet's name, the faults to inject into the next writes of the pet. */
const faultsOfWrites = new Map<string, Fault[]>();
/** Faults to inject into the next writes of idempotency records. */
let faultsOfRecords: Fault[] = [];
/** Faults to inject into the next reads of single pets or idempotency records. */
let faultsOfReads: Fault[] = [];

async function chooseFault(_call: number, read: () => Promise<string>): Promise<Fault | undefined> {
  const { TableName, Key, Item } = JSON.parse(await read());
  if (Key) return faultsOfReads.shift();
  if (TableName === process.env['IDEMPOTENCY_TABLE']) return faultsOfRecords.shift();
  return faultsOfWrites.get(Item?.name?.S)?.shift();
}

const service = await startFaultyService(await stagingTemplate(), chooseFault);
afterAll(() => service.close());

function create(name: string, key?: string): Promise<HttpResponse> {
  const headers = { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) };
  const body = stringifyJson(newPet(name));
  return service.send({ method: 'POST', target: '/v1/pets', headers, body });
}

/** Sends a request until the response is not a 503, because refused connections can affect any request. */
async function untilAvailable(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (;;) {
    const response = await send();
    if (response.status !== 503) return response;
  }
}

/** Returns the ids of all listed pets, grouped by name. */
async function listedIds(): Promise<Record<string, number[]>> {
  const { body } = await untilAvailable(() => service.send({ target: '/v1/pets?limit=100' }));
  const ids: Record<string, number[]> = {};
  for (const { name, id } of JSON.parse(body)) (ids[name] ??= []).push(id);
  return ids;
}

function idOf({ status, body }: HttpResponse): number {
  expect({ status, body }).toMatchObject({ status: 201 });
  return JSON.parse(body).id;
}

// Creates with refused connections run alone, because this fault affects all concurrent requests.
const [refusedConnection, ...others] = faultNames as [Fault, ...Fault[]];

test('a create stores one pet if one attempt to write the pet fails', async () => {
  const names = others.map((fault) => `once: ${fault}`);
  for (const fault of others) faultsOfWrites.set(`once: ${fault}`, [fault]);
  const responses = await Promise.all(names.map((name) => create(name)));
  expect([...faultsOfWrites.values()].flat()).toEqual([]);
  expect(await listedIds()).toEqual(
    Object.fromEntries(responses.map((created, index) => [names[index], [idOf(created)]])),
  );
});

test('a create gets a 503 if all attempts to write the pet fail, and a retry stores only one pet', async () => {
  async function createWith(fault: Fault): Promise<HttpResponse> {
    faultsOfWrites.set(fault, Array<Fault>(ATTEMPTS).fill(fault));
    return create(fault, encodeURIComponent(fault));
  }
  const responses = await Promise.all(others.map(createWith));
  responses.unshift(await createWith(refusedConnection));
  const message = expect.any(String);
  for (const { status, headers, body } of responses) {
    const error = { code: 'service_unavailable', message, status: 503 };
    expect([status, headers['Retry-After'], JSON.parse(body)]).toEqual([503, '1', error]);
  }
  const stored = await listedIds();
  expect(faultNames.filter((fault) => !stored[fault])).toEqual([
    'connections refused for 20 ms',
    'connection reset before execution',
    'throttling error',
  ]);

  faultsOfWrites.clear();
  const retried = await Promise.all(
    faultNames.map(async (fault) => {
      const response = await untilAvailable(() => create(fault, encodeURIComponent(fault)));
      return [fault, [idOf(response)]];
    }),
  );
  expect(await listedIds()).toMatchObject({ ...stored, ...Object.fromEntries(retried) });
});

test('a retry gets the same pet even if attempts to read or write the idempotency record fail', async () => {
  // On a busy machine, an attempt can take too long, so that a create without further faults gets a 503.
  const createAll = () =>
    Promise.all(others.map((_, index) => untilAvailable(() => create(`record ${index}`, `record-${index}`))));
  faultsOfRecords = [...others];
  const ids = (await createAll()).map(idOf);
  // Each retry reads the idempotency record and the pet. Each fault is injected into one of these reads.
  faultsOfReads = [...others];
  expect((await createAll()).map(idOf)).toEqual(ids);
  expect([faultsOfRecords, faultsOfReads]).toEqual([[], []]);
  const listed = await listedIds();
  expect(ids.map((_, index) => listed[`record ${index}`])).toEqual(ids.map((id) => [id]));
});
