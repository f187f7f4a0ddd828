import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import type { Template } from '../../infra/local/template/template.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { type Fault, mixOfFaults, seededInteger } from '../support/fault-proxy.ts';
import { type FaultyService, type Request, startFaultyService } from '../support/faulty-service.ts';

/** Clients at work at a time. */
const CLIENTS = 50;
/** Of a hundred answers to a create, how many never reach the client, which then repeats it. */
const LOST_ANSWERS_PERCENT = 10;
/** The authorizer's 7.5 s, a function's 9.5 s, and what a busy machine adds. */
const LONGEST_ANSWER_MILLISECONDS = 25_000;
/** Then a client gives up: that often it is refused by more than passing faults. */
const MAX_REPETITIONS = 100;

export interface Experiment {
  template: Template;
  creates: number;
  /** The fault of the n-th call follows from it; which request makes the n-th call is up to the clients' race. */
  seed: number;
  /** How many calls to the database out of a hundred meet a fault. */
  faultPercent: number;
  onProgress?: (creates: number) => void;
}

export interface Findings {
  /** Calls to the database. */
  calls: number;
  injected: Partial<Record<Fault, number>>;
  /** Answers by method and status, `POST 201`. */
  answers: Record<string, number>;
  lostAnswers: number;
  longestAnswerMilliseconds: number;
  acknowledged: number;
  /** Creates that were refused, or whose answers were lost, as often as a client repeats them. */
  givenUp: number;
  found: number;
  /** Every promise that was broken, as a sentence. */
  broken: string[];
}

/** A pet that a client asks for; every other one with an `Idempotency-Key`. */
interface Asked {
  pet: { name: string; categoryId: bigint; status?: string };
  key: string | undefined;
  requests: number;
  /** The ids in its answers, of those too that never reached the client. */
  ids: Set<bigint>;
}

interface Pet {
  id: bigint;
  name: string;
}

/**
 * Creates pets on a database that fails, each repeated until it is answered 201 as a client would, and then walks through
 * the whole list to see what is there.
 */
export async function runExperiment(experiment: Experiment): Promise<Findings> {
  const { template, creates, seed, faultPercent, onProgress } = experiment;
  const service = await startFaultyService(template, mixOfFaults(seed, faultPercent));
  const findings: Findings = {
    calls: 0,
    injected: {},
    answers: {},
    lostAnswers: 0,
    longestAnswerMilliseconds: 0,
    acknowledged: 0,
    givenUp: 0,
    found: 0,
    broken: [],
  };
  const send = observed(service, findings);

  async function create(one: Asked): Promise<void> {
    const { pet, key, ids } = one;
    const request = {
      method: 'POST',
      target: '/v1/pets',
      headers: { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) },
      body: stringifyJson(pet),
    };
    for (let repetition = 0; repetition < MAX_REPETITIONS; repetition += 1) {
      one.requests += 1;
      const response = await send(request);
      if (response.status === 201) {
        const { id, ...content } = parseJson(response.body) as Pet;
        if (!isDeepStrictEqual(content, pet))
          findings.broken.push(`${pet.name} was answered ${response.body}.`);
        ids.add(id);
      }
      if (seededInteger(100, seed, pet.name, repetition) < LOST_ANSWERS_PERCENT) findings.lostAnswers += 1;
      else if (response.status === 201) {
        findings.acknowledged += 1;
        return;
      } else await waitAsTold(response);
    }
    findings.givenUp += 1;
  }

  const asked = Array.from({ length: creates }, (_, number) => petToAskFor(seed, number));
  try {
    const queue = asked.values();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (const one of queue) {
          await create(one);
          onProgress?.(findings.acknowledged + findings.givenUp);
        }
      }),
    );
    const found = await walk(send);
    Object.assign(findings, service.tally(), { found: found.length });
    findings.broken.push(...brokenPromises(asked, found));
  } finally {
    await service.close();
  }
  return findings;
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

/** Sends requests and takes down what comes of them. */
function observed(service: FaultyService, findings: Findings): Send {
  return async (request) => {
    const start = performance.now();
    const response = await service.send(request);
    const milliseconds = Math.round(performance.now() - start);
    findings.longestAnswerMilliseconds = Math.max(findings.longestAnswerMilliseconds, milliseconds);
    if (milliseconds > LONGEST_ANSWER_MILLISECONDS)
      findings.broken.push(`An answer took ${milliseconds} ms.`);

    const answer = `${request.method ?? 'GET'} ${response.status}`;
    findings.answers[answer] = (findings.answers[answer] ?? 0) + 1;
    // A refusal for which there is no reason but the faults is one that asks to be repeated.
    if (response.status >= 300 && !(response.status === 503 && response.headers['Retry-After'])) {
      findings.broken.push(`${answer}: ${response.body}`);
    }
    return response;
  };
}

/** A tenth of what it is told: the faults go by the number of the call, and not away with time. */
async function waitAsTold({ headers }: HttpResponse): Promise<void> {
  await setTimeout(Number(headers['Retry-After'] ?? 1) * 100);
}

/** All pets, page by page as the Link headers lead; a page that is refused is asked for again. */
async function walk(send: Send): Promise<Pet[]> {
  const pets: Pet[] = [];
  let target: string | undefined = '/v1/pets?limit=100';
  while (target) {
    const response: HttpResponse = await send({ target });
    if (response.status === 503) {
      await waitAsTold(response);
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
