import { afterAll, beforeEach } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../support/loopback.ts';

// Test files that import this module use a fake DynamoDB, which sends the responses in `nextResponses`.

export type Responder = (request: IncomingMessage, response: ServerResponse) => void;

export function respondWith(status: number, body: object, headers: object = {}): Responder {
  return (_request, response) => {
    response
      .writeHead(status, {
        'Content-Type': 'application/x-amz-json-1.0',
        'x-amzn-RequestId': 'VB2K',
        ...headers,
      })
      .end(JSON.stringify(body));
  };
}

export function respondWithError(status: number, exception: string, headers: object = {}): Responder {
  const type = `com.amazonaws.dynamodb.v20120810#${exception}`;
  return respondWith(status, { __type: type, message: 'Why.' }, headers);
}

export function dropConnection({ socket }: IncomingMessage): void {
  socket.destroy();
}

/** Requests that the fake DynamoDB has received in the current test. */
export const received: { headers: IncomingHttpHeaders; body: any; port: unknown }[] = [];
/** Responses to the next requests in the current test. If the list is empty, the fake DynamoDB does not respond. */
export const nextResponses: Responder[] = [];

const server = createServer(async (request, response) => {
  const body = await text(request);
  received.push({
    headers: request.headers,
    body: JSON.parse(body),
    port: request.socket.remotePort,
  });
  nextResponses.shift()?.(request, response);
});
const { origin, close } = await listenOnLoopback(server);
Object.assign(process.env, {
  AWS_ENDPOINT_URL_DYNAMODB: origin,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_SESSION_TOKEN: 'none',
});

afterAll(close);

beforeEach(() => {
  received.length = 0;
  nextResponses.length = 0;
});
