import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Handler } from '../../shared/endpoint.ts';
import { parseJson } from '../../shared/json.ts';

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The body with its integers as bigint. */
  body: any;
}

/** Calls a function as Lambda does, with so much of its time left. */
export async function invoke(
  handler: Handler,
  event: APIGatewayProxyEvent,
  remainingMilliseconds = 10_000,
): Promise<Answer> {
  const context = { getRemainingTimeInMillis: () => remainingMilliseconds } as Context;
  const { statusCode, headers, body } = await handler(event, context);
  return { status: statusCode, headers: headers ?? {}, text: body, body: parseJson(body) };
}
