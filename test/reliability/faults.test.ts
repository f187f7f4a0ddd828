import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/assembly.ts';
import type { HttpResponse } from '../../infra/local/http-message.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { type Fault, faultNames } from '../support/fault-proxy.ts';
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts';

/** Of a call to the database, see shared/database.ts. */
const ATTEMPTS = 3;

jest.setTimeout(60_000); // for calls that are given up after their time

/** The fault that the next writes of a pet meet, by its name, and how many of them. */
const faultsToCome = new Map<string, { fault: Fault; times: number }>();
let service: FaultyService;

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  service = await startFaultyService(readTemplate('staging', assembly), (_call, body) => {
    const name = /"name":\{"S":"([^"]+)"/.exec(body)?.[1] ?? '';
    const next = faultsToCome.get(name);
    if (!next || next.times === 0) return undefined;
    next.times -= 1;
    return next.fault;
  });
});
afterAll(() => service.close());

function nameOf(fault: Fault, times: number): string {
  return `${fault}, ${times}`;
}

/** Creates a pet, with its name for a key. */
function create(name: string): Promise<HttpResponse> {
  return service.send({
    method: 'POST',
    target: '/v1/pets',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name.replaceAll(' ', '-') },
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

const [refused, ...others] = faultNames;
const answers = new Map<string, HttpResponse>();

async function createUnder(fault: Fault, times: number): Promise<void> {
  const name = nameOf(fault, times);
  faultsToCome.set(name, { fault, times });
  answers.set(name, await create(name));
  faultsToCome.delete(name);
}

beforeAll(async () => {
  // At once, as most of their time is waiting; but for the fault that is everybody's.
  await Promise.all(others.flatMap((fault) => [createUnder(fault, 1), createUnder(fault, ATTEMPTS)]));
  await createUnder(refused!, ATTEMPTS);
});

describe('a create whose write meets once:', () => {
  test.each(others)('%s, is answered 201 and made once', async (fault) => {
    const { status, body } = answers.get(nameOf(fault, 1))!;
    expect(status).toBe(201);
    expect(await idsOf(nameOf(fault, 1))).toEqual([JSON.parse(body).id]);
  });
});

describe('a create whose write meets at each attempt:', () => {
  test.each(faultNames)('%s, is answered 503, and made once when it is repeated', async (fault) => {
    const name = nameOf(fault, ATTEMPTS);
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
    const repeated = await answered(() => create(name));
    expect(repeated.status).toBe(201);
    expect(await idsOf(name)).toEqual([JSON.parse(repeated.body).id]);
  });
});
