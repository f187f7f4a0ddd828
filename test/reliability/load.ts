import { integerOption, runWithOptions, UsageError } from '../../infra/command.ts';
import { firstCollection } from '../collections/all.ts';
import { variantOf } from '../support/collection-tests.ts';
import { requireTool } from '../support/tools.ts';
import { createRequest, listPath, newItem } from '../support/requested-items.ts';

const USAGE = `node --require ./infra/require-node.cjs test/reliability/load.ts --base-url URL --api-key KEY [--duration 600] [--connections 50]

Sends concurrent requests to a running service and prints their latencies.

  --base-url     the service's base URL, such as http://localhost:3000/v1 (default: $BASE_URL)
  --api-key      an API key (default: $API_KEY, which is safer because npm prints options)
  --duration     the duration in seconds, from 1 to 86400
  --connections  the number of concurrent clients, from 1 to 1000, each with one request at a time

The command fails if a request gets no response or a response is not 2xx. It does not delete the created items.
It does not verify TLS certificates. For a deployed stage, use an API key that you revoke afterwards.`;

const options = {
  'base-url': { type: 'string', default: process.env['BASE_URL'] ?? '' },
  'api-key': { type: 'string', default: process.env['API_KEY'] ?? '' },
  duration: { type: 'string', default: '600' },
  connections: { type: 'string', default: '50' },
} as const;

const TIMEOUT_SECONDS = 30;

await runWithOptions(USAGE, options, async ({ 'base-url': address, 'api-key': apiKey, ...values }) => {
  if (!address || !apiKey)
    throw new UsageError('Export BASE_URL and API_KEY. "Base URL and key" in docs/clients.md shows how.');
  const baseUrl = address.replace(/\/$/, '');
  const headers = { Authorization: `Bearer ${apiKey}` };
  const duration = integerOption('--duration', values.duration, 1, 86_400);
  const connections = integerOption('--connections', values.connections, 1, 1_000);
  const { ok, status } = await fetch(`${baseUrl}${listPath}?limit=1`, {
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1_000),
  }).catch(({ name, cause }) => ({ ok: false, status: cause?.code ?? name }));
  // If there is no response, `status` is the error's code or name, because the message can contain the key.
  if (!ok)
    throw new UsageError(`A list request to ${baseUrl} failed (${status}). Check --base-url and --api-key.`);
  // https://github.com/mcollina/autocannon
  const autocannon = requireTool('autocannon');
  const running = autocannon({
    url: baseUrl,
    connections,
    duration,
    timeout: TIMEOUT_SECONDS,
    bailout: 1_000, // The load ends after this number of errors, because the service has probably stopped.
    headers,
    idReplacement: true, // This replaces `[<id>]` by a unique id, in headers too.
    requests: roundOf(`${new URL(baseUrl).pathname}${listPath}`),
  });
  process.once('SIGINT', () => running.stop());
  autocannon.track(running, { renderResultsTable: false });
  const result = await running;
  console.log(autocannon.printResult(result, { outputStream: process.stdout, renderStatusCodes: true }));
  // `total` omits requests without a response. When the load ends, each connection can have one pending request, which
  // is not lost.
  const lost = Math.max(0, result.requests.sent - result.requests.total - connections);
  if (lost > 0) console.error(`At least ${lost} requests got no response.`);
  if (lost + result.errors + result.non2xx > 0) process.exitCode = 1;
});

/** Paths that a connection stores during a round of requests. */
type Context = Partial<Record<'nextPage' | 'item', string>>;

/** Returns the requests that each connection repeats. Half are lists, a quarter are creates and a quarter are gets. */
function roundOf(path: string): object[] {
  const follow = (name: keyof Context) => ({
    setupRequest: (request: object, context: Context) => ({ ...request, path: context[name] ?? path }),
  });
  const list = { path, onResponse: store('nextPage', 'Link', /<\w+:\/\/[^/]+([^>]+)>; rel="next"/) };
  const [filter] = firstCollection.filters;
  const create = {
    ...createRequest({ content: variantOf(newItem('An item'), filter?.contains ?? {}) }),
    path,
    onResponse: store('item', 'Location', /^\w+:\/\/[^/]+(.+)/),
  };
  const createIdempotent = { ...create, headers: { ...create.headers, 'Idempotency-Key': '[<id>]' } };
  const filtered = {
    ...list,
    path: filter ? `${path}?${new URLSearchParams(filter.query).toString()}` : path,
  };
  const [nextPage, get] = [follow('nextPage'), follow('item')];
  return [list, nextPage, create, get, filtered, nextPage, createIdempotent, get];
}

/** Returns a function that extracts a path from a response's header with `pattern` and stores the path. */
function store(name: keyof Context, header: string, pattern: RegExp) {
  return (_status: number, _body: string, context: Context, headers: Record<string, string>): void => {
    const [, path] = pattern.exec(new Headers(headers).get(header) ?? '') ?? [];
    if (path) context[name] = path;
  };
}
