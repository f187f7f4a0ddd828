import { randomUUID } from 'node:crypto';
import { runWithOptions, UsageError } from '../../infra/operate/command.ts';
import { integerOption } from '../../infra/operate/integer-option.ts';
import { requireTool } from '../support/tools.ts';

// `npm run load`: latencies of a running service while many clients send requests at the same time.

const USAGE = `npm run load -- --base-url URL --api-key KEY [--duration 600] [--connections 50]

  --base-url     of the service, such as http://localhost:3000/v1 (default: the variable BASE_URL)
  --api-key      an API key of the service (default: the variable API_KEY, which npm does not print as it does options)
  --duration     seconds, 1 to 86400
  --connections  concurrent clients, 1 to 1000; each sends its next request after a response

Fails if a response is not 2xx or missing. The pets stay in the service. Certificates are not verified: for a deployed
stage, use an API key that you revoke afterwards.`;

const options = {
  'base-url': { type: 'string', default: process.env['BASE_URL'] ?? '' },
  'api-key': { type: 'string', default: process.env['API_KEY'] ?? '' },
  duration: { type: 'string', default: '600' },
  connections: { type: 'string', default: '50' },
} as const;

const TIMEOUT_SECONDS = 30;
/** With more errors the service is taken to be gone, and the load ends early. */
const MAX_ERRORS = 1_000;

await runWithOptions(USAGE, options, async ({ 'base-url': address, 'api-key': apiKey, ...values }) => {
  const baseUrl = address.replace(/\/$/, '');
  const duration = integerOption('--duration', values.duration, 1, 86_400);
  const connections = integerOption('--connections', values.connections, 1, 1_000);
  await requireService(baseUrl, apiKey);
  // https://github.com/mcollina/autocannon
  const autocannon = requireTool('autocannon');
  const running = autocannon({
    url: baseUrl,
    connections,
    duration,
    timeout: TIMEOUT_SECONDS,
    bailout: MAX_ERRORS,
    headers: { Authorization: `Bearer ${apiKey}` },
    requests: roundOf(`${new URL(baseUrl).pathname}/pets`),
  });
  process.once('SIGINT', () => running.stop());
  autocannon.track(running, { renderResultsTable: false });
  const result = await running;
  console.log(autocannon.printResult(result, { outputStream: process.stdout, renderStatusCodes: true }));
  // Each connection may have a request in progress at the end. autocannon counts no error when a connection is lost.
  const lost = Math.max(0, result.requests.sent - result.requests.total - connections);
  if (lost > 0) console.error(`At least ${lost} requests got no response.`);
  if (lost + result.errors + result.non2xx > 0) process.exitCode = 1;
});

interface Request {
  method?: 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
  setupRequest?: (request: Request, context: Context) => Request;
  onResponse?: (status: number, body: string, context: Context, headers: Record<string, string>) => void;
}

/** What a connection remembers during a round of requests: paths. */
interface Context {
  nextPage?: string;
  pet?: string;
}

/**
 * The requests that each connection sends over and over: half lists, a quarter creates, a quarter pets just created.
 *
 * @param path of the pets
 */
function roundOf(path: string): Request[] {
  const list: Request = {
    path,
    onResponse(_status, _body, context, headers) {
      const next = /<([^>]*)>; rel="next"/.exec(new Headers(headers).get('Link') ?? '')?.[1];
      if (next) context.nextPage = pathOf(next);
    },
  };
  const create: Request = {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":7,"status":"available"}',
    onResponse(_status, _body, context, headers) {
      const location = new Headers(headers).get('Location');
      if (location) context.pet = pathOf(location);
    },
  };
  const createOnce: Request = {
    ...create,
    setupRequest(request) {
      return { ...request, headers: { ...request.headers, 'Idempotency-Key': randomUUID() } };
    },
  };
  const follow = (name: keyof Context): Request => ({
    path,
    setupRequest: (request, context) => ({ ...request, path: context[name] ?? path }),
  });
  const [nextPage, get] = [follow('nextPage'), follow('pet')];
  const listByStatus = { ...list, path: `${path}?status=available` };
  return [list, nextPage, create, get, listByStatus, nextPage, createOnce, get];
}

function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** @throws UsageError if the service does not list pets for this key. It does not quote the key, as an error of fetch may. */
async function requireService(baseUrl: string, apiKey: string): Promise<void> {
  const reason = await fetch(`${baseUrl}/pets?limit=1`, {
    headers: { Authorization: `Bearer ${apiKey}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1_000),
  }).then(
    ({ ok, status }) => !ok && status,
    ({ name, cause }) => cause?.code ?? name,
  );
  if (reason === false) return;
  throw new UsageError(`${baseUrl} does not list pets (${reason}): check --base-url and --api-key.`);
}
