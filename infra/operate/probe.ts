import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type ErrorCode, errorCatalog } from '../../shared/contract/errors.ts';
import { generateApiKey } from '../../shared/api-key-format.ts';
import { projectRoot, UsageError } from '../command.ts';
import { type Response, send } from './request.ts';

/** Maximum number of 429s, 5xxs and missing responses in 60 requests, as these failures can be transient. */
const MAX_TRANSIENT_FAILURES = 2;

const RELEASED = 'docs/openapi-released.json';

/** The parts of an OpenAPI document that the probe reads. */
interface Contract {
  paths: Record<string, Record<string, { operationId: string }>>;
}

interface Check {
  method: string;
  path: string;
  key: 'a valid key' | 'an unknown key' | 'no key';
  body?: string;
  /** Expected error code. If omitted, the expected response is a list. */
  code?: ErrorCode;
  /** Whether the request is sent only once a minute, so that no alarm fires in a stage without other traffic. */
  isRare?: boolean;
}

/** Returns the checks of a list, a create or a get. Other operations have none, as their requests could change items. */
function checksOfOperation(method: string, path: string): Check[] {
  const isItem = path.endsWith('}');
  if (method === 'get' && !isItem)
    return [
      { method: 'GET', path, key: 'no key', code: 'unauthorized', isRare: true },
      { method: 'GET', path, key: 'an unknown key', code: 'unauthorized', isRare: true },
      { method: 'OPTIONS', path, key: 'a valid key', code: 'method_not_allowed', isRare: true },
      { method: 'GET', path, key: 'a valid key' },
    ];
  if (method === 'post' && !isItem)
    return [{ method: 'POST', path, key: 'a valid key', body: '{', code: 'invalid_request', isRare: true }];
  // The service assigns only positive ids, so no item has the id 0.
  if (method === 'get')
    return [{ method: 'GET', path: path.replace(/\{\w+\}$/, '0'), key: 'a valid key', code: 'not_found' }];
  return [];
}

/**
 * Returns the checks of the operations in both contracts. During a deployment, the previous version gets requests too, and
 * must pass the checks. New operations therefore have no checks until the contract that contains them is released.
 *
 * @throws UsageError if the contracts share no operation that can be checked every second
 */
export function checksOf(present: Contract, released: Contract): Check[] {
  const checks = Object.entries(present.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, { operationId }]) => released.paths[path]?.[method]?.operationId === operationId)
      .flatMap(([method]) => checksOfOperation(method, `/v1${path}`)),
  );
  if (checks.some(({ isRare }) => !isRare)) return checks;
  throw new UsageError(
    `${RELEASED} contains no operation that the probe can check. See "Release the contract" in CONTRIBUTING.md.`,
  );
}

/** Yields each check once or, if `minutes` is positive, 60 checks a minute: each rare check once, and then the others in turn. */
function* schedule(checks: Check[], minutes: number): Generator<Check> {
  const rare = checks.filter(({ isRare }) => isRare);
  const others = checks.filter(({ isRare }) => !isRare);
  if (minutes === 0) yield* [...rare, ...others];
  for (let minute = 0; minute < minutes; minute += 1) {
    yield* rare;
    for (let second = rare.length; second < 60; second += 1) yield others[second % others.length]!;
  }
}

/** A stage with the base URL and the API key with which it is tested. */
export interface TestedStage {
  stage: string;
  baseUrl: string;
  apiKey: string;
}

/**
 * Checks a stage with requests that store nothing. Prints each failed request, but never the key.
 *
 * @param interruption signal that stops the probe. The signal's reason is thrown.
 * @param minutes time during which the checks are repeated @default - each check is performed once
 * @param interval time from one request to the next in milliseconds
 * @throws UsageError if a response is wrong, or if more than two of 60 consecutive requests get a 429, a 5xx or no
 *   response. Such a request is repeated after `interval`.
 */
export async function probe(
  stage: TestedStage,
  interruption: AbortSignal,
  minutes = 0,
  interval = 1_000,
): Promise<void> {
  const [present, released] = ['openapi.json', RELEASED].map(
    (file) => JSON.parse(readFileSync(join(projectRoot, file), 'utf8')) as Contract,
  );
  const checks = checksOf(present!, released!);
  console.log(`Probing ${stage.baseUrl} …`);
  const start = Date.now();
  let passed = 0;
  /** Numbers of the requests that failed. */
  const failed: number[] = [];

  /** Performs a check when it is due, and returns whether it passed. If it failed, prints the reason. */
  async function passes(check: Check): Promise<boolean> {
    const sent = passed + failed.length;
    const pause = Math.max(0, start + sent * interval - Date.now());
    await setTimeout(pause, undefined, { signal: interruption }).catch(() => {});
    const failure = problemOf(check, await sendRequest(check, stage, sent, interruption));
    if (failure) console.error(failure);
    return failure === undefined;
  }

  for (const check of schedule(checks, minutes)) {
    while (!(await passes(check))) {
      const sent = passed + failed.length;
      failed.push(sent);
      const recent = failed.filter((request) => request > sent - 60).length;
      if (recent > MAX_TRANSIENT_FAILURES)
        throw new UsageError(`${recent} requests to the stage ${stage.stage} failed.`);
    }
    passed += 1;
    if (passed % 60 === 0) console.log(`${passed} checks passed.`);
  }
  console.log(`The stage ${stage.stage} passed ${passed} checks.`);
}

/** Sends the request of a check. `index` is the number of requests that were sent before. */
async function sendRequest(
  { method, path, key, body }: Check,
  { stage, baseUrl, apiKey }: TestedStage,
  index: number,
  interruption: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  // API Gateway caches authorizer results by header value. With varying spaces, the authorizer runs more often, so that
  // the probe also finds failures of the authorizer.
  const scheme = 'Bearer'.padEnd(7 + (index % 60));
  if (key === 'a valid key') headers['Authorization'] = `${scheme}${apiKey}`;
  if (key === 'an unknown key') headers['Authorization'] = `${scheme}${generateApiKey(stage)}`;
  const url = baseUrl.replace(/\/v1$/, path);
  const response = await send(url, { method, headers, body: body ?? null }, interruption);
  interruption.throwIfAborted();
  return response;
}

/** Returns the reason for a retry, or undefined if the check passed. @throws UsageError if a retry cannot help */
function problemOf({ method, path, key, code }: Check, response: Response): string | undefined {
  const { status, headers, body, reason } = response;
  const expected = code ? errorCatalog[code].status : 200;
  const isCorrect = code ? body?.code === code && body.status === status : Array.isArray(body);
  if (status === expected && isCorrect) return undefined;
  const actual = status === expected ? `${status} with a wrong body` : status;
  const problem =
    `${method} ${path} with ${key}: expected ${expected}, but got ${actual} ` +
    `(request id: ${headers.get('x-amzn-RequestId') ?? 'none'}). ${reason}`;
  if (status === 429 || status >= 500) return problem;
  throw new UsageError(problem);
}
