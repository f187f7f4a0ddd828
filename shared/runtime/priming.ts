import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type Call, type Success, throwingEndpoint } from './endpoint.ts';
import type { Operation } from '../contract/operations.ts';
import { warmUp } from './warm-up.ts';

/**
 * Warms up the function of an operation: responds to a sample request, with a read from the database, as to any other.
 * Nothing is logged or counted, and failures are ignored.
 *
 * @param sample the parts of a request that the operation accepts
 * @param run what the operation does, or a read in place of it
 */
export function prime<O extends Operation>(
  operation: O,
  sample: Partial<APIGatewayProxyEvent>,
  run: (call: Call<O>) => Promise<Success<O>>,
): Promise<void> {
  const requestContext = { stage: '', path: '/', domainName: 'localhost' };
  const event = { multiValueHeaders: {}, requestContext, ...sample } as APIGatewayProxyEvent;
  const context = { getRemainingTimeInMillis: () => 10_000 } as Context;
  const respond = throwingEndpoint(operation, run);
  return warmUp(() => respond(event, context));
}
