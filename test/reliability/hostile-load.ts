import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { integerOption, onInterrupt, runWithOptions } from '../../infra/command.ts';
import { databaseSettings, localOperator, readLocalService } from '../../infra/local/local-service.ts';
import { findApiKey, issueApiKey, rotateApiKey } from '../../infra/operate/key-store.ts';
import { parseJson } from '../../shared/contract/json.ts';
import type { IssuedKey } from '../../shared/api-keys.ts';
import { connect } from '../../shared/storage/database.ts';
import type { StoredItem } from '../support/items.ts';
import { type LocalService, startLocalServiceOf } from '../support/local-service.ts';
import { exchange, type RawRequest, type RawResponse, type Way, ways } from './hostile-client.ts';
import {
  createRequest,
  itemToRequest,
  listAll,
  listPath,
  type RequestedItem,
  violationsOf,
} from '../support/requested-items.ts';

const USAGE = `node --require ./infra/require-node.cjs test/reliability/hostile-load.ts [--duration 600] [--connections 1000] [--kill-every 45]

Starts a local service with a temporary data folder. Clients send requests slowly, in pipelines and on half-closed
connections, abort requests, and retry creates with an Idempotency-Key until they get a 201. Meanwhile, the API key is
rotated. During the first half, the service is killed and restarted. During the second half, it keeps running, so that
its memory should stop growing.

  --duration     the duration in seconds, from 1 to 86400
  --connections  the number of concurrent clients, from 1 to 10000, each with one connection at a time
  --kill-every   the number of seconds between two kills, from 1 to 3600

The command fails if an item is lost, changed or duplicated, if a response has an unexpected status, or if a connection
is lost without a kill. It then keeps the data folder, with the service's log.`;

const options = {
  duration: { type: 'string', default: '600' },
  connections: { type: 'string', default: '1000' },
  'kill-every': { type: 'string', default: '45' },
} as const;

const ROTATE_EVERY_SECONDS = 20;
/** Time for which the old key works after a rotation. It is much longer than a client takes to send a request. */
const OVERLAP_MILLISECONDS = 120_000;
const REQUESTS_PER_CONNECTION = 8;
/** Share of the creates with an `Idempotency-Key` that are retried although the client got a 201. */
const NEEDLESS_RETRIES = 0.05;
const PROGRESS_LINES = 20;
const MAX_PRINTED_FAULTS = 20;

interface Request extends RawRequest {
  /** Expected status. */
  status: number;
  /** Item that the request creates or gets. */
  item?: RequestedItem;
}

await runWithOptions(USAGE, options, async (values) => {
  const duration = integerOption('--duration', values.duration, 1, 86_400);
  const connections = integerOption('--connections', values.connections, 1, 10_000);
  const killEvery = integerOption('--kill-every', values['kill-every'], 1, 3_600);
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  const requested: RequestedItem[] = [];
  const stored: RequestedItem[] = [];
  const faults: string[] = [];
  const connectionsByWay = new Map<string, number>();
  const responses = new Map<string, number>();
  let [open, kills, rotations, lost, log] = [0, 0, 0, 0, ''];

  /** The running service, or the service that is starting. */
  let running: Promise<LocalService>;
  let service: LocalService | undefined;
  process.once('exit', () => {
    service?.process.kill('SIGKILL');
    if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
  });
  onInterrupt(() => process.exit(1));

  async function start(): Promise<LocalService> {
    service = await startLocalServiceOf('.', '--data', folder);
    return service;
  }

  async function kill(): Promise<void> {
    const victim = await running;
    running = victim.stop('SIGKILL').then(start);
    log += victim.output();
    kills += 1;
  }

  running = start();
  await running;
  const { stage, apiKeysTable: table } = readLocalService(folder);
  // The database's port changes with each restart, so it is read for each rotation.
  const keyStore = () => ({ stage, table, database: connect(databaseSettings(readLocalService(folder))) });
  let apiKey = await issueApiKey(keyStore(), { owner: 'load', caller: localOperator });

  const begin = performance.now();
  const elapsed = () => (performance.now() - begin) / 1_000;
  function hasCrashed(): boolean {
    const { killed, exitCode, signalCode } = service!.process;
    return !killed && (exitCode !== null || signalCode !== null);
  }

  /** Calls `act` every `seconds` seconds until `end`. */
  async function repeat(seconds: number, end: number, act: () => Promise<unknown>): Promise<void> {
    for (let next = seconds; next < end && !hasCrashed(); next += seconds) {
      await pause(Math.max(0, next - elapsed()) * 1_000);
      await act();
    }
  }

  const successors = new Map<string, IssuedKey>();
  const show = async (issued: IssuedKey) => void successors.set(issued.record.keyId, issued);
  async function rotate(): Promise<void> {
    const { process: child } = await running;
    const { keyId } = apiKey.record;
    const rotation = { overlap: OVERLAP_MILLISECONDS, caller: localOperator };
    try {
      const store = keyStore();
      const record = await findApiKey(store, keyId);
      // If a kill interrupted the previous rotation after its last write, the key already has a successor.
      if (!record.successor) await rotateApiKey(store, record, rotation, show);
      const { successor } = await findApiKey(store, keyId);
      apiKey = successors.get(successor!.keyId)!;
      rotations += 1;
    } catch (error) {
      if (!child.killed) faults.push(`A rotation failed: ${(error as Error).message}`);
    }
  }

  function create(item?: RequestedItem): Request {
    const created = item ?? itemToRequest(requested.length);
    if (!item) requested.push(created);
    return { ...createRequest(created), path: listPath, status: 201, item: created };
  }

  /** Returns a create, a list or a get. */
  function anyRequest(): Request {
    const item = stored[Math.floor(Math.random() * stored.length)];
    if (!item || Math.random() < 0.5) return create();
    const read = { method: 'GET', headers: {}, body: '', status: 200 };
    const isList = Math.random() < 0.5;
    return isList
      ? { ...read, path: `${listPath}?limit=5` }
      : { ...read, path: `${listPath}/${[...item.ids][0]}`, item };
  }

  /**
   * Returns the requests on a connection. If the service should accept the first request, this request is a create,
   * which retries an item in `toRetry` unless `toRetry` is empty.
   */
  function requestsFor(way: Way, toRetry: RequestedItem[]): Request[] {
    // The service must reject these requests, so they have no `item`.
    const rejected = { ...createRequest(itemToRequest(0)), path: listPath };
    if (way === 'incomplete head') return [{ ...rejected, status: 408 }];
    if (way === 'large body') return [{ ...rejected, status: 413 }];
    const first = create(toRetry.pop());
    if (way === 'garbage after the request') return [first, { ...rejected, method: '\0', status: 400 }];
    const count = way === 'one by one' || way === 'pipelined' ? REQUESTS_PER_CONNECTION : 1;
    return [first, ...Array.from({ length: count - 1 }, anyRequest)];
  }

  function check({ status, item, method }: Request, response: RawResponse): void {
    if (response.status !== status)
      faults.push(`${method} got a ${response.status} instead of a ${status}: ${response.body}`);
    else if (item) {
      const { id, ...content } = parseJson(response.body) as StoredItem;
      if (!isDeepStrictEqual(content, item.content))
        faults.push(`${method} of ${item.text} returned ${response.body}`);
      if (method === 'POST' && item.ids.size === 0) stored.push(item);
      item.ids.add(id);
    }
  }

  /** Uses connections one after another, and retries creates with an `Idempotency-Key` until they get a 201. */
  async function runClient(): Promise<void> {
    const toRetry: RequestedItem[] = [];
    while (!hasCrashed() && (elapsed() < duration || toRetry.length > 0)) {
      const { process: child, baseUrl } = await running;
      const isOver = elapsed() >= duration;
      const way = isOver ? 'one by one' : randomWay();
      const requests = isOver ? toRetry.splice(0).map((item) => create(item)) : requestsFor(way, toRetry);
      for (const { item, method } of requests) if (item && method === 'POST') item.requests += 1;
      const Authorization = `Bearer ${apiKey.key}`;
      const authorized = requests.map((request) => ({
        ...request,
        headers: { ...request.headers, Authorization },
      }));
      const pending = [...requests];
      open += 1;
      for await (const response of exchange(baseUrl, authorized, way)) {
        increment(responses, `${response.status}`);
        check(pending.shift()!, response);
      }
      open -= 1;
      increment(connectionsByWay, way);
      if (pending.length > 0 && !way.startsWith('aborted')) {
        if (child.killed) lost += pending.length;
        else if (!hasCrashed())
          faults.push(`A connection (${way}) ended before ${pending.length} responses.`);
      }
      for (const request of requests) {
        if (request.method !== 'POST' || !request.item?.key) continue;
        const isNeedless = !isOver && Math.random() < NEEDLESS_RETRIES;
        if (pending.includes(request) || isNeedless) toRetry.push(request.item);
      }
    }
  }

  const memory: string[] = [];
  async function showProgress(): Promise<void> {
    const { process: child } = await running;
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', `${child.pid}`]).catch(() => ({
      stdout: '',
    }));
    const megabytes = Math.round(Number(stdout) / 1_024);
    const seconds = Math.round(elapsed());
    if (!child.killed) memory.push(`${megabytes} MB after ${seconds} s`);
    console.error(
      `${seconds} s: ${open} connections, ${total(responses)} responses, ${stored.length} items, ${kills} kills, ` +
        `${rotations} rotations, ${child.killed ? 'restarting' : `${megabytes} MB`}, ${faults.length} faults`,
    );
  }

  await Promise.all([
    ...Array.from({ length: connections }, runClient),
    repeat(killEvery, duration / 2, kill),
    repeat(ROTATE_EVERY_SECONDS, duration, rotate),
    repeat(duration / PROGRESS_LINES, duration, showProgress),
  ]);
  if (hasCrashed()) faults.push('The service stopped.');
  else {
    console.error('Comparing the stored items with the responses …');
    const { request } = await running;
    const items = await listAll(async (path) => {
      const response = await request(path);
      return { body: await response.text(), link: response.headers.get('Link') };
    });
    faults.push(...violationsOf(requested, items));
    console.log(`${items.length} items in the list, ${stored.length} of them with a 201`);
  }
  console.log(`Connections: ${list(connectionsByWay)}`);
  console.log(`Responses: ${list(responses)}; ${lost} responses missing because of ${kills} kills`);
  console.log(`Rotations of the API key: ${rotations}`);
  console.log(`Memory of the service: ${memory.join(', ')}`);
  if (faults.length > 0) {
    writeFileSync(join(folder, 'log'), log + service!.output());
    console.error(
      [...faults.slice(0, MAX_PRINTED_FAULTS), `${faults.length} faults. See ${folder}/log.`].join('\n'),
    );
    process.exitCode = 1;
  }
  await service!.stop();
});

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function total(counts: Map<string, number>): number {
  return counts.values().reduce((sum, number) => sum + number, 0);
}

function list(counts: Map<string, number>): string {
  return [...counts]
    .toSorted(([first], [second]) => first.localeCompare(second))
    .map(([name, number]) => `${number} ${name}`)
    .join(', ');
}

function randomWay(): Way {
  let rest = Math.random() * Object.values(ways).reduce((sum, share) => sum + share);
  return Object.entries(ways).find(([, share]) => (rest -= share) < 0)![0] as Way;
}
