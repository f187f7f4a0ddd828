import { afterAll, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { findApiKey } from '../../infra/local/local-api-key.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { startEmulator } from '../../infra/local/emulator/emulator.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { changedAssembly, sharedSynthesis } from '../support/assembly.ts';
import { collectionTests } from '../collections/all.ts';
import { passOn } from '../support/fault-proxy.ts';
import { type HttpReply, sendHttp } from '../support/http.ts';
import { startLocalService } from '../support/local-service.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// The tests run the functions of a stage behind a proxy that has a path prefix and sends the stage's own host in `Host`.

const PREFIX = '/some/shop';
const folder = temporaryFolder();
const received: string[] = [];
let port = 0;

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request;
  if (!url.startsWith(`${PREFIX}/v1/`)) return void response.writeHead(421).end();
  received.push(url);
  const service = `http://localhost:${port}`;
  const sent = { method, headers: { ...headers, host: new URL(service).host } };
  const reply = await passOn(new URL(url.slice(PREFIX.length), service), sent, await buffer(request));
  response.writeHead(reply.status, reply.headers).end(reply.body);
}

const proxy = await listenOnLoopback(createServer((request, response) => void forward(request, response)));
const publicUrl = `${proxy.origin}${PREFIX}`;

const { assembly } = await sharedSynthesis();
// The setting `publicUrl` allows only https, so these tests change the template instead.
const withPublicUrl = changedAssembly(
  assembly,
  join(folder, 'cdk.out'),
  /(?="POWERTOOLS_SERVICE_NAME": )/g,
  `"PUBLIC_URL": ${JSON.stringify(publicUrl)}, `,
);

const store = await openStore(join(folder, 'tables'));
const emulator = await startEmulator({
  assembly: withPublicUrl,
  stackName: stackName('staging'),
  store,
  inspectPort: 0,
  log: () => {},
});
port = await emulator.listen(0);
const { databaseEndpoint, template } = emulator;
const apiKeysTable = template.outputs['ApiKeysTable']!.Value;
const apiKey = await findApiKey(folder, emulator.api, { stage: 'staging', apiKeysTable, databaseEndpoint });
const local = await startLocalService('--assembly', withPublicUrl);

afterAll(async () => {
  await local.stop();
  await emulator.close();
  await store.close();
  await proxy.close();
});

/** Sends a request to an absolute URL. */
function send(url: string, key: string, body?: object): Promise<HttpReply> {
  const { origin, pathname, search } = new URL(url);
  const headers: [string, string][] = [['Authorization', `Bearer ${key}`]];
  const method = body ? 'POST' : 'GET';
  return sendHttp(origin, { method, target: pathname + search, headers, body: body && stringifyJson(body) });
}

/** Returns the URL of a link in the header `Link`. */
function linkOf({ headers }: HttpReply, rel: string): string | undefined {
  return new RegExp(`<([^>]*)>; rel="${rel}"`).exec(headers.get('Link') ?? '')?.[1];
}

/** Creates three items. Returns the bodies that their `Location` URLs return, and the URLs. */
async function create(baseUrl: string, key: string, path: string, item: object) {
  const created: { url: string; text: string }[] = [];
  for (let count = 0; count < 3; count += 1) {
    const reply = await send(`${baseUrl}${path}`, key, item);
    const url = reply.headers.get('Location')!;
    expect((await send(url, key)).text).toBe(reply.text);
    created.push({ url, text: reply.text });
  }
  return created;
}

/** Follows the links from page to page. Returns the ids of all items, and the URLs of all pages except the first. */
async function walk(baseUrl: string, key: string, path: string) {
  const ids: bigint[] = [];
  const urls: string[] = [];
  for (let url: string | undefined = `${baseUrl}${path}?limit=1`; url;) {
    const page = await send(url, key);
    ids.push(...(parseJson(page.text) as { id: bigint }[]).map(({ id }) => id));
    url = linkOf(page, 'next');
    if (url !== undefined) urls.push(url);
  }
  return { ids, urls };
}

describe.each(Object.values(collectionTests))('the URLs in responses of $path', ({ path, newItem }) => {
  test('lead to all pages and items through a proxy that changes Host if publicUrl is the URL of the proxy', async () => {
    const baseUrl = `${publicUrl}/v1`;
    const created = await create(baseUrl, apiKey, path, newItem('a text'));
    const { ids, urls } = await walk(baseUrl, apiKey, path);
    const expected = created.map(({ text }) => (parseJson(text) as { id: bigint }).id).toReversed();
    expect(ids).toEqual(expected);
    expect(created.map(({ url }) => url)).toEqual(
      expected.toReversed().map((id) => `${baseUrl}${path}/${id}`),
    );
    for (const url of urls) expect(url.replace(/cursor=.+/, '')).toBe(`${baseUrl}${path}?limit=1&`);
    expect(received).toContain(urls[0]!.slice(proxy.origin.length));
  });

  test('lead to the proxy even if a request bypasses it', async () => {
    const page = await send(`http://localhost:${port}/v1${path}?limit=1`, apiKey);
    expect(linkOf(page, 'next')).toMatch(`${publicUrl}/v1${path}?limit=1&cursor=`);
  });

  test('lead to the local service itself if it runs a stage with a public URL', async () => {
    const created = await create(local.baseUrl, local.apiKey, path, newItem('a text'));
    for (const { url } of created) expect(url).toMatch(`${local.baseUrl}${path}/`);
    const { ids, urls } = await walk(local.baseUrl, local.apiKey, path);
    expect(ids).toHaveLength(3);
    for (const url of urls) expect(url).toMatch(`${local.baseUrl}${path}?limit=1&cursor=`);
  });
});

const deprecated = collections
  .flatMap(({ operations }) => Object.values<Operation>(operations))
  .filter(({ deprecation }) => deprecation);

test('deprecated operations link to a successor that works', async () => {
  for (const { path, deprecation } of deprecated) {
    const reply = await send(`${publicUrl}${path.replace(/\{\w+\}/, '1')}`, apiKey);
    const successor = linkOf(reply, 'successor-version')!;
    expect(successor).toBe(`${publicUrl}${deprecation!.successor}`);
    expect((await send(successor, apiKey)).status).toBe(200);
  }
});
