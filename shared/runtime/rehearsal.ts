import type * as v from 'valibot';
import { stringifyJson } from '../contract/json.ts';
import type { Operation } from '../contract/operations.ts';
import { parseRequest, type RequestEvent } from './request.ts';
import { warmUp } from './warm-up.ts';

/**
 * Warms up the function of an operation: parses a sample request, reads from the database and writes a body, as requests
 * do. Nothing is logged or counted, and failures are ignored.
 *
 * @param sample the parts of a request that the operation accepts
 * @param read reads in place of what the operation does, and returns what is to be written
 */
export function rehearse<O extends Operation>(
  operation: O,
  sample: Partial<RequestEvent>,
  read: (request: v.InferOutput<O['request']>) => Promise<unknown>,
): Promise<void> {
  const event: RequestEvent = {
    multiValueHeaders: {},
    pathParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    ...sample,
  };
  return warmUp(async () => {
    stringifyJson(await read(parseRequest(operation, event)));
  });
}
