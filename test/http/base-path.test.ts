import { afterAll, afterEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { StoredPet } from './lists.ts';
import { environmentVariables } from '../../shared/names.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { newPet } from '../support/pets.ts';
import { stagingTemplate } from '../support/real-database.ts';

// The local service is at the root of its host. A stage is below a path: its name at the default endpoint, the base path of
// a custom domain, or the path of a proxy. Here, a server puts the functions there.

const service = await startFaultyService(await stagingTemplate());
const { handlers } = service;
const atRoot = { ...handlers };
afterAll(() => service.close());
let closeServer = async (): Promise<void> => {};
afterEach(() => closeServer());

/**
 * Starts a server that has the service below `path`.
 *
 * @param isProxy whether the server is a proxy, so that API Gateway receives neither the path nor the host of the request
 */
async function serve(path: string, isProxy: boolean) {
  // API Gateway passes the path that the client called, including that of the stage, in `requestContext.path`.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
  for (const [name, handler] of Object.entries(atRoot)) {
    handlers[name] = ({ requestContext, ...event }, context) => {
      const called = isProxy || !requestContext ? {} : { path: path + requestContext.path };
      return handler({ ...event, requestContext: { ...requestContext, ...called } }, context);
    };
  }
  const server = createServer(async (request, response): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const isBelow = url.startsWith(`${path}/v1/`);
    const host = isProxy ? 'internal.example.com' : headers.host!;
    const reply = await service.handle({
      method,
      target: isBelow ? url.slice(path.length) : '/',
      headers: Object.entries<any>({ ...headers, host }),
      body: (await buffer(request)).toString(),
    });
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  const { origin, close } = await listenOnLoopback(server);
  closeServer = close;
  return origin;
}

/** Sends a request to an absolute URL. */
async function send(url: string, body?: object) {
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' };
  const response = await fetch(
    url,
    body ? { method: 'POST', headers, body: stringifyJson(body) } : { headers },
  );
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function linkOf({ headers }: Awaited<ReturnType<typeof send>>): string | undefined {
  return /<([^>]*)>/.exec(headers.get('Link') ?? '')?.[1];
}

test.each([
  ['the name of a stage or a base path', '/shops/staging', false],
  ['the path of a proxy that changes Host', '/some/shop', true],
])('the URLs in Location and Link lead to all pets and pages below %s', async (_what, path, isProxy) => {
  const origin = await serve(path, isProxy);
  const baseUrl = `${origin}${path}/v1`;
  // The functions read the variable with each request.
  if (isProxy) process.env[environmentVariables.publicUrl] = `${origin}${path}`;
  const created: StoredPet[] = [];
  for (const name of ['Rex', 'Mia', 'Ben']) {
    const reply = await send(`${baseUrl}/pets`, newPet(name));
    const location = reply.headers.get('Location')!;
    created.push(parseJson(reply.text) as StoredPet);
    expect(location).toBe(`${baseUrl}/pets/${created.at(-1)!.id}`);
    const read = await send(location);
    expect(read).toMatchObject({ status: 200, text: reply.text });
    // getPet links to the list that replaces it.
    expect(linkOf(read)).toBe(`${baseUrl}/pets`);
  }
  const listed: StoredPet[] = [];
  let url: string | undefined = `${baseUrl}/pets?limit=1`;
  while (url && listed.length < created.length) {
    const page = await send(url);
    listed.push(...(parseJson(page.text) as StoredPet[]));
    url = linkOf(page);
  }
  expect(listed).toEqual(created.toReversed());
});
