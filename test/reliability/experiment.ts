import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { HttpResponse } from '../../infra/local/emulator/gateway/http-message.ts';
import type { Template } from '../../infra/local/emulator/template/template.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { mixOfFaults, seededInteger } from '../support/fault-proxy.ts';
import { type FaultyService, type Request, startFaultyService } from '../support/faulty-service.ts';
import type { StoredItem } from '../support/items.ts';
import {
  createRequest,
  itemToRequest,
  listAll,
  listPath,
  type RequestedItem,
  violationsOf,
} from './requested-items.ts';

/** Number of concurrent clients. */
const CLIENTS = 50;
/** Percentage of database calls into which a fault is injected. */
const FAULT_PERCENT = 20;
/** Percentage of create responses that never reach the client. The client retries these creates. */
const LOST_RESPONSES_PERCENT = 10;
/** Number of requests after which a client gives up. Random faults do not cause so many failures in a row. */
const MAX_REQUESTS = 100;

type Findings = ReturnType<typeof noFindings>;

function noFindings() {
  return {
    /** Number of responses by method and status, such as `POST 201`. */
    responses: {} as Record<string, number>,
    lostResponses: 0,
    longestResponseMilliseconds: 0,
    acknowledged: 0,
    /** One sentence for each violated guarantee. */
    violations: [] as string[],
  };
}

/**
 * Creates items with retries despite database faults, and then compares the list with the requested items.
 *
 * @param seed determines the fault of the n-th database call. The order of the calls varies between runs.
 */
export async function runExperiment(template: Template, creates: number, seed: number) {
  const service = await startFaultyService(template, mixOfFaults(seed, FAULT_PERCENT));
  const findings = noFindings();
  const send = observed(service, findings);
  const requested = Array.from({ length: creates }, (_, number) => itemToRequest(seed, number));
  const { error } = console;
  console.error = () => {}; // prevents the local API Gateway from printing authorizer errors
  try {
    const createOne = (item: RequestedItem) => create(item, seed, send, findings);
    await Readable.from(requested).forEach(createOne, { concurrency: CLIENTS });
    const found = await listAll((path) => readPage(path, send));
    findings.violations.push(...violationsOf(requested, found));
    return { ...service.tally(), ...findings, found: found.length };
  } finally {
    console.error = error;
    await service.close();
  }
}

async function create(item: RequestedItem, seed: number, send: Send, findings: Findings): Promise<void> {
  const { text, content } = item;
  const request = { target: `/v1${listPath}`, ...createRequest(item) };
  while (item.requests < MAX_REQUESTS) {
    item.requests += 1;
    const response = await send(request);
    if (response.status === 201) {
      const { id, ...received } = parseJson(response.body) as StoredItem;
      if (!isDeepStrictEqual(received, content))
        findings.violations.push(`The response for ${text} has different content: ${response.body}`);
      item.ids.add(id);
    }
    if (seededInteger(100, seed, text, item.requests) < LOST_RESPONSES_PERCENT) findings.lostResponses += 1;
    else if (response.status === 201) return void (findings.acknowledged += 1);
    else await waitRetryAfter(response);
  }
}

type Send = (request: Request) => Promise<HttpResponse>;

/** Returns a function that sends requests, counts their responses, and records the longest time and wrong responses. */
function observed(service: FaultyService, findings: Findings): Send {
  return async (request) => {
    const start = performance.now();
    const response = await service.send(request);
    const milliseconds = Math.round(performance.now() - start);
    findings.longestResponseMilliseconds = Math.max(findings.longestResponseMilliseconds, milliseconds);

    const kind = `${request.method ?? 'GET'} ${response.status}`;
    findings.responses[kind] = (findings.responses[kind] ?? 0) + 1;
    // The only allowed error response is a 503 with Retry-After.
    if (response.status >= 300 && !(response.status === 503 && response.headers['Retry-After'])) {
      findings.violations.push(`Unexpected response (${kind}): ${response.body}`);
    }
    return response;
  };
}

/** Waits for a tenth of the time in `Retry-After`. Faults are random, so a longer wait would not prevent them. */
async function waitRetryAfter({ headers }: HttpResponse): Promise<void> {
  await setTimeout(Number(headers['Retry-After'] ?? 1) * 100);
}

/** Retries a list request until the response is not a 503. Returns an empty page after an unexpected response. */
async function readPage(path: string, send: Send) {
  for (;;) {
    const response = await send({ target: `/v1${path}` });
    if (response.status === 503) await waitRetryAfter(response);
    else return { body: response.status === 200 ? response.body : '[]', link: response.headers['Link'] };
  }
}
