import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type ValidRequest, type Success, throwingEndpoint } from './endpoint.ts';
import type { Operation } from '../contract/operations.ts';
import { warmUp } from './warm-up.ts';

/**
 * Primes the function of an operation by processing a sample request during init. The sample request writes no log lines
 * or metrics, and its errors are ignored.
 *
 * @param sample parts of a valid request
 * @param run implementation of the operation, or a read-only substitute
 */
export function prime<O extends Operation>(
  operation: O,
  sample: Partial<APIGatewayProxyEvent>,
  run: (call: ValidRequest<O>) => Promise<Success<O>>,
): Promise<void> {
  const requestContext = { stage: '', path: '/', domainName: 'localhost' };
  const event = { multiValueHeaders: {}, requestContext, ...sample } as APIGatewayProxyEvent;
  const context = { getRemainingTimeInMillis: () => 10_000 } as Context;
  const respond = throwingEndpoint(operation, run);
  return warmUp(() => respond(event, context));
}
