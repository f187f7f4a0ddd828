import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import type { Template } from '../../infra/local/template/template.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { type Fault, mixOfFaults, seededInteger } from '../support/fault-proxy.ts';
import { type FaultyService, type Request, startFaultyService } from '../support/faulty-service.ts';

/** Clients at a time. */
const CLIENTS = 50;
/** How many responses to creates never reach the client, which then retries. */
const LOST_RESPONSES_PERCENT = 10;
/** 7.5 s of the authorizer and 9.5 s of a function, with a margin for a busy machine. */
const LONGEST_RESPONSE_MILLISECONDS = 25_000;
/** Then a client gives up, because faults that pass cannot fail so many. */
const MAX_REQUESTS = 100;

interface Experiment {
  template: Template;
  creates: number;
  /** Chooses the fault of each call, but not which request makes the call. */
  seed: number;
  /** Percentage of calls to the database that have a fault. */
  faultPercent: number;
}

type Findings = ReturnType<typeof noFindings>;

function noFindings() {
  return {
    /** Calls to the database. */
    calls: 0,
    injected: {} as Partial<Record<Fault, number>>,
    /** Answers by method and status, `POST 201`. */
    responses: {} as Record<string, number>,
    lostResponses: 0,
    longestResponseMilliseconds: 0,
    acknowledged: 0,
    /** Creates that used up their requests. */
    givenUp: 0,
    found: 0,
    /** A sentence for each broken promise. */
    broken: [] as string[],
  };
}

/** A pet that a client asks for, every other one with an `Idempotency-Key`. */
interface Asked {
  pet: { name: string; categoryId: bigint; status?: string };
  key: string | undefined;
  requests: number;
  /** The ids in its responses, including those that never reached the client. */
  ids: Set<bigint>;
}

interface Pet {
  id: bigint;
  name: string;
}

/**
 * Creates pets on a database that fails, retries each until it gets a 201 as a client would, and then walks through the
 * whole list to see what is there.
 */
export async function runExperiment(experiment: Experiment): Promise<Findings> {
  const { template, creates, seed, faultPercent } = experiment;
  const service = await startFaultyService(template, mixOfFaults(seed, faultPercent));
  const findings = noFindings();
  const send = observed(service, findings);
  const asked = Array.from({ length: creates }, (_, number) => petToAskFor(seed, number));
  const { error } = console;
  console.error = () => {}; // API Gateway prints the errors of the authorizer
  try {
    const queue = asked.values();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (const one of queue) await create(one, seed, send, findings);
      }),
    );
    const found = await walk(send);
    Object.assign(findings, service.tally(), { found: found.length });
    findings.broken.push(...brokenPromises(asked, found));
  } finally {
    console.error = error;
    await service.close();
  }
  return findings;
}

async function create(one: Asked, seed: number, send: Send, findings: Findings): Promise<void> {
  const { pet, key } = one;
  const headers = { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) };
  const request = { method: 'POST', target: '/v1/pets', headers, body: stringifyJson(pet) };
  while (one.requests < MAX_REQUESTS) {
    one.requests += 1;
    const response = await send(request);
    if (response.status === 201) {
      const { id, ...content } = parseJson(response.body) as Pet;
      if (!isDeepStrictEqual(content, pet))
        findings.broken.push(`${pet.name} got the response ${response.body}.`);
      one.ids.add(id);
    }
    if (seededInteger(100, seed, pet.name, one.requests) < LOST_RESPONSES_PERCENT)
      findings.lostResponses += 1;
    else if (response.status === 201) return void (findings.acknowledged += 1);
    else await waitRetryAfter(response);
  }
  findings.givenUp += 1;
}

function petToAskFor(seed: number, number: number): Asked {
  const status = [undefined, 'available', 'pending', 'sold'][seededInteger(4, seed, 'status', number)];
  return {
    pet: {
      name: `Pet ${number}`,
      categoryId: 2n ** 63n - 1n - BigInt(seededInteger(2 ** 32, seed, 'category', number)),
      ...(status && { status }),
    },
    key: number % 2 === 0 ? `key-${number}` : undefined,
    requests: 0,
    ids: new Set(),
  };
}

type Send = (request: Request) => Promise<HttpResponse>;

/** Sends requests and counts their responses. */
function observed(service: FaultyService, findings: Findings): Send {
  return async (request) => {
    const start = performance.now();
    const response = await service.send(request);
    const milliseconds = Math.round(performance.now() - start);
    findings.longestResponseMilliseconds = Math.max(findings.longestResponseMilliseconds, milliseconds);
    if (milliseconds > LONGEST_RESPONSE_MILLISECONDS)
      findings.broken.push(`An answer took ${milliseconds} ms.`);

    const kind = `${request.method ?? 'GET'} ${response.status}`;
    findings.responses[kind] = (findings.responses[kind] ?? 0) + 1;
    // Faults cause no other error response than one that asks for a retry.
    if (response.status >= 300 && !(response.status === 503 && response.headers['Retry-After'])) {
      findings.broken.push(`${kind}: ${response.body}`);
    }
    return response;
  };
}

/** Waits for a tenth of `Retry-After`, because these faults do not pass with time. */
async function waitRetryAfter({ headers }: HttpResponse): Promise<void> {
  await setTimeout(Number(headers['Retry-After'] ?? 1) * 100);
}

/** All pets, by the links from page to page. A page that got a 503 is requested again. */
async function walk(send: Send): Promise<Pet[]> {
  const pets: Pet[] = [];
  let target: string | undefined = '/v1/pets?limit=100';
  while (target) {
    const response: HttpResponse = await send({ target });
    if (response.status === 503) {
      await waitRetryAfter(response);
      continue;
    }
    if (response.status !== 200) return pets;
    pets.push(...(parseJson(response.body) as Pet[]));
    target = /<https?:\/\/[^/]+([^>]+)>; rel="next"/.exec(response.headers['Link'] ?? '')?.[1];
  }
  return pets;
}

function brokenPromises(asked: Asked[], pets: Pet[]): string[] {
  const broken: string[] = [];
  const foundIds = new Set(pets.map(({ id }) => id));
  if (foundIds.size < pets.length) broken.push('The list has a pet more than once.');

  const foundByName = Map.groupBy(pets, ({ name }) => name);
  for (const { pet, key, requests, ids } of asked) {
    const ofThisName = foundByName.get(pet.name) ?? [];
    foundByName.delete(pet.name);
    for (const found of ofThisName) {
      if (!isDeepStrictEqual(found, { id: found.id, ...pet }))
        broken.push(`${pet.name} is there with another content.`);
    }
    for (const id of ids)
      if (!foundIds.has(id)) broken.push(`${pet.name} was acknowledged and is not there.`);
    if (ofThisName.length > requests) {
      broken.push(`${pet.name} is there ${ofThisName.length} times, of ${requests} requests.`);
    }
    if (key && (ids.size > 1 || ofThisName.length > 1)) {
      broken.push(
        `${pet.name} has a key, ${ids.size} ids in its answers, and is there ${ofThisName.length} times.`,
      );
    }
  }
  for (const name of foundByName.keys()) broken.push(`${name} is there, and nobody asked for it.`);
  return broken;
}
