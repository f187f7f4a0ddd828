import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Handler } from '../../shared/runtime/endpoint.ts';
import { parseJson } from '../../shared/contract/json.ts';

export type ApiResponse = Awaited<ReturnType<typeof invoke>>;

/** Fields of the Lambda context that the functions log. */
export const invocation = {
  awsRequestId: '0d8a1b1e-3f1c-4b53-8a0a-2f4a2c9be1a7',
  functionName: 'the-function',
  functionVersion: '7',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:the-function:live',
  memoryLimitInMB: '256',
} as const;

/** Signal of an invocation that does not run out of time. */
export const { signal } = new AbortController();

/** Invokes a function with an event and a Lambda context, and parses the body of the response. */
export async function invoke(handler: Handler, event: APIGatewayProxyEvent, remainingMilliseconds = 10_000) {
  const context = { ...invocation, getRemainingTimeInMillis: () => remainingMilliseconds } as Context;
  const { statusCode: status, headers = {}, body: text } = (await handler(event, context))!;
  // The parsed body contains its integers as bigint.
  const body: any = text === '' ? undefined : parseJson(text);
  return { status, headers, text, body };
}

/** Returns the module name, such as `list-books`, for an operation id (`listBooks`) or construct name (`ListBooks`). */
export function moduleOf(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, '-$&').toLowerCase();
}

/** Returns the name of the construct that defines an operation's function, such as `ListBooks` for `listBooks`. */
export function constructOf(id: string): string {
  return `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
}

/** Imports a function's handler. The import reads environment variables, so set these variables first. */
export async function handlerOf(name: string): Promise<Handler> {
  return ((await import(`../../functions/${moduleOf(name)}.ts`)) as { handler: Handler }).handler;
}
