import { generateApiKey } from '../../shared/api-keys.ts';
import type { PublishedCollection } from '../../shared/contract/operation.ts';
import { type ErrorCode, errorCatalog, READ_ONLY_MESSAGE } from '../../shared/contract/errors.ts';
import { collections } from '../../shared/contract/operations.ts';
import { UsageError } from '../command.ts';
import { send } from './send.ts';

/** A stage with the base URL and the API key with which it is tested. */
export interface TestedStage {
  stage: string;
  baseUrl: string;
  apiKey: string;
}

interface Check {
  method: string;
  path: string;
  key: 'a valid key' | 'an unknown key' | 'no key';
  body?: string;
  /** Expected error code. If omitted, the expected response is a list. */
  code?: ErrorCode;
  /** Expected message. @default - any */
  message?: string;
}

function checksOf({ operations: { list, create, get } }: PublishedCollection): Check[] {
  const { path } = list;
  // The service assigns only positive ids, so no item has the id 0.
  const missing = get.path.replace(/\{\w+\}$/, '0');
  return [
    { method: 'GET', path, key: 'no key', code: 'unauthorized' },
    { method: 'GET', path, key: 'an unknown key', code: 'unauthorized' },
    { method: 'OPTIONS', path, key: 'a valid key', code: 'method_not_allowed' },
    { method: 'GET', path, key: 'a valid key' },
    // The firewall's 403 has another message.
    {
      method: 'POST',
      path: create.path,
      key: 'a valid key',
      body: '{',
      code: 'forbidden',
      message: READ_ONLY_MESSAGE,
    },
    { method: 'GET', path: missing, key: 'a valid key', code: 'not_found' },
  ];
}

/**
 * Tests a stage with requests that store nothing. Prints each wrong response, but never the key.
 *
 * @param stage stage with an API key that can only read
 * @param interruption signal that stops the test. The signal's reason is thrown.
 * @throws UsageError if a response is wrong or missing
 */
export async function readOnlyTest(stage: TestedStage, interruption: AbortSignal): Promise<void> {
  const checks = collections.flatMap(checksOf);
  let failed = 0;
  for (const check of checks) {
    const problem = await problemOf(check, stage, interruption);
    if (problem === undefined) continue;
    console.error(problem);
    failed += 1;
  }
  if (failed > 0) throw new UsageError(`${stage.baseUrl} failed ${failed} of ${checks.length} checks.`);
  console.log(`${stage.baseUrl} passed ${checks.length} checks.`);
}

/** Sends the request of a check, and returns what is wrong with the response. */
async function problemOf(
  { method, path, key, body, code, message }: Check,
  { stage, baseUrl, apiKey }: TestedStage,
  interruption: AbortSignal,
): Promise<string | undefined> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (key === 'a valid key') headers['Authorization'] = `Bearer ${apiKey}`;
  if (key === 'an unknown key') headers['Authorization'] = `Bearer ${generateApiKey(stage)}`;
  const url = baseUrl.replace(/\/v1$/, path);
  const response = await send(url, { method, headers, body: body ?? null }, interruption);
  interruption.throwIfAborted();
  const { status, body: received, reason } = response;
  const expected = code ? errorCatalog[code].status : 200;
  const isCorrect = code
    ? received?.code === code &&
      received.status === status &&
      (message ?? received.message) === received.message
    : Array.isArray(received);
  if (status === expected && isCorrect) return undefined;
  const actual = status === expected ? `${status} with a wrong body` : status;
  const requestId = response.headers.get('x-amzn-RequestId') ?? 'none';
  return `${method} ${path} with ${key}: expected ${expected}, but got ${actual} (request id: ${requestId}). ${reason}`;
}
