import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Handler } from '../../shared/runtime/endpoint.ts';
import { parseJson } from '../../shared/contract/json.ts';

export interface ApiResponse {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The parsed body with its integers as bigint. */
  body: any;
}

/** Fields of Lambda's context that the functions log. */
export const invocation = {
  awsRequestId: '0d8a1b1e-3f1c-4b53-8a0a-2f4a2c9be1a7',
  functionName: 'the-function',
  functionVersion: '7',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:the-function:live',
  memoryLimitInMB: '256',
} as const;

/** Invokes a function with an event and a Lambda context, and parses the response. */
export async function invoke(
  handler: Handler,
  event: APIGatewayProxyEvent,
  remainingMilliseconds = 10_000,
): Promise<ApiResponse> {
  const context = { ...invocation, getRemainingTimeInMillis: () => remainingMilliseconds } as Context;
  const { statusCode, headers, body } = await handler(event, context);
  return { status: statusCode, headers: headers ?? {}, text: body, body: parseJson(body) };
}

/**
 * Imports a function's handler. The function reads the environment during the import, so set the variables first.
 *
 * @param name the function's operation (`listPets`) or construct (`ListPets`)
 */
export async function handlerOf(name: string): Promise<Handler> {
  const module = name.replaceAll(/(?!^)[A-Z]/g, '-$&').toLowerCase();
  return ((await import(`../../functions/${module}.ts`)) as { handler: Handler }).handler;
}
