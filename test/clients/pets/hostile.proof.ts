import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '../../../shared/api-keys.ts';
import { parseJson } from '../../../shared/contract/json.ts';
import { clientProxies, type ClientProxy, inOrder } from '../../support/client-proxy.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  clients,
  describeFor,
  type ExampleClient,
  runIn,
  shortenTimeout,
  unpack,
} from './example-clients.ts';
import { type HostileCase, hostileCases } from './hostile-cases.ts';

// These tests run the clients in docs/clients with rare and wrong input. A server sends all responses, so no service is
// needed.

const folder = temporaryFolder();
const apiKey = generateApiKey('staging');
/** The part of the API key that must be in no output. */
const secret = apiKey.slice(-36);
const startProxy = clientProxies();
const startServer = () => startProxy('');

/** Returns environment variables that make a client send all requests through an HTTP proxy. */
function proxiedThrough({ origin }: ClientProxy): Record<string, string> {
  return { http_proxy: origin, HTTP_PROXY: origin, NODE_USE_ENV_PROXY: '1' };
}

/** Replaces placeholders such as `{origin}` in all texts of `value`. */
function fill<Value>(value: Value, { origin }: ClientProxy): Value {
  const { host, port } = new URL(origin);
  const values: Record<string, string> = { origin, host, port, key: apiKey };
  const fillText = (text: string) =>
    text.replaceAll(/\{(origin|host|port|key)\}/g, (_, name) => values[name]!);
  const text = JSON.stringify(value);
  return JSON.parse(text, (_, part) => (typeof part === 'string' ? fillText(part) : part)) as Value;
}

for (const client of clients) {
  describeFor(client)(`the ${client.name} client`, () => {
    const files = unpack(folder);
    const impatientFiles = unpack(folder);
    shortenTimeout(impatientFiles, client);

    test.concurrent.each(hostileCases.map((hostile) => [hostile.title, hostile] as const))(
      'handles %s',
      async (_, hostile) => {
        const server = await startServer();
        const found = await play(client, hostile.hasShortTimeout ? impatientFiles : files, hostile, server);
        const { requests, prints, fails, wait = 0, sends } = hostile;
        expect(found).toEqual({
          requests: fill(requests, server).map((url) =>
            url.startsWith('/') ? `${server.origin}${url}` : url,
          ),
          authorizations: requests.map(() => `Bearer ${apiKey}`),
          bodies: requests.map(() => sends ?? ''),
          prints,
          isSuccess: fails === undefined,
          missingTexts: [],
          printsSecret: false,
          printsControls: false,
          time: expect.any(Number),
        });
        expect(found.time).toBeGreaterThanOrEqual(wait);
      },
    );

    test.concurrent('converts a base URL with a non-ASCII host, or rejects it with advice', async () => {
      const server = await startServer();
      server.decide(inOrder({ status: 200, body: '[]' }));
      const environment = {
        BASE_URL: 'http://BÜCHER.example/v1',
        API_KEY: apiKey,
        ...proxiedThrough(server),
      };
      const { code, stderr } = await runIn(files, client, client.list, ['', ''], environment);
      const hosts = server.requests.map(({ headers }) => headers.host);
      expect({ isSuccess: code === 0, hosts, hasAdvice: /base URL must.*xn--/.test(stderr) }).toEqual(
        client.convertsHosts
          ? { isSuccess: true, hosts: ['xn--bcher-kva.example'], hasAdvice: false }
          : { isSuccess: false, hosts: [], hasAdvice: true },
      );
    });

    test.concurrent('does not send the API key to another server after a redirect', async () => {
      const [server, other] = [await startServer(), await startServer()];
      server.decide(inOrder({ status: 307, headers: { Location: `${other.baseUrl}/pets` } }));
      const environment = { BASE_URL: server.baseUrl, API_KEY: apiKey };
      const { code } = await runIn(files, client, client.list, ['', ''], environment);
      expect([code === 0, server.requests.length, other.requests.length]).toEqual([false, 1, 0]);
    });

    test.concurrent.each(client.others)('$title', async ({ program, requests, prints }) => {
      const server = await startServer();
      const headers = { 'x-amzn-RequestId': 'a-1' };
      server.decide(inOrder({ status: 200, headers, body: '[{"id":1}]' }));
      const environment = { BASE_URL: server.baseUrl, API_KEY: apiKey };
      const { stdout, stderr } = await runIn(files, client, program, ['', ''], environment);
      const targets = server.requests.map(({ target }) => target);
      expect({ stdout, stderr, targets }).toEqual({ stdout: prints, stderr: '', targets: requests });
    });

    test.concurrent('does not reveal the API key when the client object is printed', async () => {
      const environment = { BASE_URL: 'http://127.0.0.1:1/v1', API_KEY: apiKey };
      const { code, stdout, stderr } = await runIn(files, client, client.show, ['', ''], environment);
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringMatching(/./), stderr: '' });
      expect(stdout).not.toContain(secret);
      expect(stdout).not.toContain(Buffer.from(secret).toString('hex'));
    });
  });
}

/** Runs a client in one case, and returns what the server received and what the client printed. */
async function play(client: ExampleClient, files: string, hostile: HostileCase, server: ClientProxy) {
  const { list = ['', ''], create, baseUrl = '{origin}/v1', apiKey: key = '{key}' } = hostile;
  const responses = [...hostile.responses];
  server.decide(() => {
    const next = responses.shift() ?? { status: 418, body: 'The case expects fewer requests.' };
    const behavior = typeof next === 'function' ? next() : next;
    if (typeof behavior === 'string' || 'raw' in behavior) return behavior;
    const { body, headers = {} } = behavior;
    return {
      ...behavior,
      headers: fill(headers, server),
      ...(typeof body === 'string' && { body: fill(body, server) }),
    };
  });
  const file = `${randomUUID()}.json`;
  if (create) writeFileSync(join(files, file), create.pet);
  const program = create ? client.create : client.list;
  const parameters = create ? [file, create.key ?? randomUUID()] : list;
  const { code, stdout, stderr } = await runIn(files, client, program, parameters, {
    BASE_URL: fill(baseUrl, server),
    API_KEY: fill(key, server),
    ...(hostile.proxied && proxiedThrough(server)),
  });

  const { requests } = server;
  const isFound = (text: string | RegExp) =>
    typeof text === 'string' ? stderr.includes(fill(text, server)) : text.test(stderr);
  return {
    requests: requests.map(({ target, headers: { host } }) =>
      target.startsWith('/') ? `http://${host}${target}` : target,
    ),
    authorizations: requests.map(({ headers }) => headers.authorization),
    bodies: requests.map(({ body }) => body.replaceAll(/\s/g, '')),
    prints: stdout
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => parseJson(line) as { id: bigint } | { id: bigint }[])
      .map(({ id }) => id),
    isSuccess: code === 0,
    missingTexts: (hostile.fails ?? []).filter((text) => !isFound(text)),
    printsSecret: [secret, 'hunter2'].some((text) => `${stdout}${stderr}`.includes(text)),
    printsControls: /[^\P{Cc}\t\r\n]/u.test(stderr),
    /** Time between the first two requests, in milliseconds. */
    time: requests.length > 1 ? requests[1]!.time - requests[0]!.time : 0,
  };
}
