import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Handler } from '../../shared/runtime/endpoint.ts';
import { parseJson } from '../../shared/contract/json.ts';

export interface ApiResponse {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The parsed body with its integers as bigint, or undefined if the body is empty. */
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
  const parsed = body === '' ? undefined : parseJson(body);
  return { status: statusCode, headers: headers ?? {}, text: body, body: parsed };
}

/** Returns the name of the module in `functions` for an operation (`listItems`) or construct (`ListItems`). */
export function moduleOf(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, '-$&').toLowerCase();
}

/** Returns the name of the construct of an operation's function, such as `ListItems` for `listItems`. */
export function constructOf(id: string): string {
  return `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
}

/** Imports a function's handler. The function reads the environment during the import, so set the variables first. */
export async function handlerOf(name: string): Promise<Handler> {
  return ((await import(`../../functions/${moduleOf(name)}.ts`)) as { handler: Handler }).handler;
}
