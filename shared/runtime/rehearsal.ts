import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { endpoint } from './endpoint.ts';
import type { Operation } from '../contract/operations.ts';
import { warmUp } from './warm-up.ts';

/**
 * Goes the way of a request through the endpoint of an operation to warm it up, with a read in place of what the operation
 * does. Nothing is logged or counted, whatever comes of the read.
 *
 * @param sample what the operation accepts.
 */
export function rehearse(
  operation: Operation,
  sample: Partial<APIGatewayProxyEvent>,
  read: () => Promise<unknown>,
): Promise<void> {
  const { deprecation: _counted, ...rest } = operation;
  const handler = endpoint(rest, async () => {
    await read().catch(() => {});
    return { body: sample };
  });
  const event = { headers: {}, requestContext: { path: rest.path }, ...sample } as APIGatewayProxyEvent;
  // It has no time by which it must have answered.
  const context = {} as Context;
  return warmUp(() => handler(event, context));
}
