import { afterAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startLocalService } from '../support/local-service.ts';

// In each test except the last, the bodies are together more than three times as large as the memory that the local service
// may use for them.

/** Limit for the memory that the service may use in addition to what it uses before the first body, in megabytes. */
const MAX_MORE_MEGABYTES = 150;
/** Higher limit for bodies that reach a function, because its instance also keeps memory until garbage collection. */
const MAX_MORE_MEGABYTES_WITH_INSTANCE = 250;
const CHUNK = Buffer.alloc(1_000_000, 'a');

const service = await startLocalService();
afterAll(() => service.stop('SIGKILL'));
const own = `/proc/${service.process.pid}`;

/** Returns the service's memory in megabytes: the current one (`VmRSS`), or the largest since the last reset (`VmHWM`). */
function megabytes(name: 'VmRSS' | 'VmHWM'): number {
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync(`${own}/status`, 'utf8'),
  )!;
  return Number(kibibytes) / 1_024;
}

/** Sends a body of `size` megabytes, whatever the service responds meanwhile. Returns the response's status. */
async function send(size: number, isChunked: boolean, authorization = ''): Promise<number> {
  const { hostname, port, pathname } = new URL(`${service.baseUrl}/pets`);
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${size * CHUNK.length}`;
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}`,
    authorization,
    framing,
    'Connection: close',
  ];
  const socket = connect(Number(port), hostname);
  const response = text(socket);
  socket.write(`${head.filter(Boolean).join('\r\n')}\r\n\r\n`);
  for (let sent = 0; sent < size; sent += 1) {
    if (isChunked) socket.write(`${CHUNK.length.toString(16)}\r\n`);
    const isFull = !socket.write(CHUNK);
    if (isChunked) socket.write('\r\n');
    if (isFull) await once(socket, 'drain');
  }
  socket.end(isChunked ? '0\r\n\r\n' : '');
  return Number((await response).split(' ')[1]);
}

await service.request('/pets'); // This request starts the function.
const isMeasurable = existsSync(`${own}/clear_refs`);
const before = isMeasurable ? megabytes('VmRSS') : 0;

const withKey = `Authorization: Bearer ${service.apiKey}`;
const times = (count: number, request: () => Promise<number>) =>
  Promise.all(Array.from({ length: count }, request));

(isMeasurable ? describe : describe.skip)('the local service uses little memory for', () => {
  test.each<[string, number, () => Promise<number[]>, limit?: number]>([
    ['a chunked body of 600 MB with an API key', 413, () => times(1, () => send(600, true, withKey))],
    ['60 chunked bodies of 9 MB with an API key', 413, () => times(60, () => send(9, true, withKey))],
    ['60 bodies of 9 MB without an API key', 401, () => times(60, () => send(9, false))],
    [
      '30 bodies of 6 MB that the function rejects',
      413,
      () => times(30, () => send(6, false, withKey)),
      MAX_MORE_MEGABYTES_WITH_INSTANCE,
    ],
  ])('%s, and returns a %i', async (_what, expected, run, limit = MAX_MORE_MEGABYTES) => {
    writeFileSync(`${own}/clear_refs`, '5'); // This resets VmHWM.
    const statuses = await run();
    const more = Math.round(megabytes('VmHWM') - before);
    process.stdout.write(`From ${Math.round(before)} MB: ${more} MB more\n`);
    expect(new Set(statuses)).toEqual(new Set([expected]));
    expect(more).toBeLessThan(limit);
  });
});
