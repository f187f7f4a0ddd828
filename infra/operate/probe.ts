import { setTimeout } from 'node:timers/promises';
import { type ErrorCode, errorCatalog } from '../../shared/contract/errors.ts';
import { listOperation, type Operation, operations } from '../../shared/contract/operations.ts';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { UsageError } from '../command.ts';
import { type Response, send } from './request.ts';

/** Number of requests that may get a 429, a 5xx or no response, because these failures can be transient. */
const MAX_TRANSIENT_FAILURES = 2;

interface Check {
  method: string;
  path: string;
  key: 'a valid key' | 'an unknown key' | 'no key';
  body?: string;
  /** Expected error code. If omitted, the expected response is a list. */
  code?: ErrorCode;
}

/** Returns checks that the previous version also passes, because both versions get requests during a deployment. */
function checks() {
  const { method: GET, path } = listOperation;
  const list = { method: GET, path, key: 'a valid key' } as const;
  const accepted: Check[] = [list];
  const rejected: Check[] = [
    { ...list, key: 'no key', code: 'unauthorized' },
    { ...list, key: 'an unknown key', code: 'unauthorized' },
    // No operation can have the method OPTIONS.
    { ...list, method: 'OPTIONS', code: 'method_not_allowed' },
  ];
  for (const { method, path: template, request } of Object.values<Operation>(operations)) {
    // The service assigns only positive ids.
    const missing = template.replaceAll(/\{\w+\}/g, '0');
    if (method === GET && missing !== template) accepted.push({ ...list, path: missing, code: 'not_found' });
    const isCreate = template === path && request.entries.body;
    if (isCreate) rejected.push({ ...list, method, body: '{', code: 'invalid_request' });
  }
  return { accepted, rejected };
}

/**
 * Checks a stage with requests that store nothing. Prints each failed request, but never the key.
 *
 * @param interruption signal that stops the probe. The signal's reason is thrown.
 * @param minutes time during which the checks are repeated @default - each check is performed once
 * @param interval time from one request to the next in milliseconds
 * @throws UsageError if a response is wrong, or if too many requests get a 429, a 5xx or no response
 */
export async function probe(
  { stage, baseUrl, apiKey }: Record<'stage' | 'baseUrl' | 'apiKey', string>,
  interruption: AbortSignal,
  minutes = 0,
  interval = 1_000,
): Promise<void> {
  console.log(`Probing ${baseUrl} …`);
  const start = Date.now();
  const { accepted, rejected } = checks();
  const length = minutes * 60 || accepted.length + rejected.length;
  // Each request in `rejected` is sent once a minute, so that no alarm fires in a stage without other traffic.
  const queue = Array.from({ length }, (_, i) => rejected[i % 60] ?? accepted[i % accepted.length]!);
  let failed = 0;
  for (const [index, next] of queue.entries()) {
    const pause = Math.max(0, start + index * interval - Date.now());
    await setTimeout(pause, undefined, { signal: interruption }).catch(() => {});
    // API Gateway caches authorizer results by header value. With varying spaces, the authorizer runs more often.
    const scheme = 'Bearer'.padEnd(7 + (index % 60));
    const key = next.key === 'a valid key' ? apiKey : generateApiKey(stage);
    const authorization = next.key === 'no key' ? {} : { Authorization: `${scheme}${key}` };
    const headers = { 'Content-Type': 'application/json', ...authorization };
    const { method, path, body = null } = next;
    const url = baseUrl.replace(/\/v1$/, path);
    const response = await send(url, { method, headers, body }, interruption);
    interruption.throwIfAborted();
    const failure = problemOf(next, response);
    if (failure) {
      console.error(failure);
      failed += 1;
      queue.push(next);
    }
    if (failed > MAX_TRANSIENT_FAILURES)
      throw new UsageError(`${failed} requests to the stage ${stage} failed.`);
    if ((index + 1) % 60 === 0) console.log(`${index + 1 - failed} checks passed.`);
  }
  console.log(`The stage ${stage} passed ${queue.length - failed} checks.`);
}

/** Returns the reason for a retry, or undefined if the check passed. @throws UsageError if a retry cannot help */
function problemOf({ method, path, key, code }: Check, response: Response): string | undefined {
  const { status, headers, body, reason } = response;
  const expected = code ? errorCatalog[code].status : listOperation.success.status;
  const isCorrect = code ? body?.code === code && body.status === status : Array.isArray(body);
  if (status === expected && isCorrect) return undefined;
  const actual = status === expected ? `${status} with a wrong body` : status;
  const problem =
    `${method} ${path} with ${key}: expected ${expected}, but got ${actual} ` +
    `(request id: ${headers.get('x-amzn-RequestId') ?? 'none'}). ${reason}`;
  if (status === 429 || status >= 500) return problem;
  throw new UsageError(problem);
}
