import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** How clients use a connection, with the number of connections among 1,000. */
export const ways = {
  'one by one': 300,
  pipelined: 180,
  'slow head': 150,
  'slow body': 100,
  'slow chunks': 100,
  'half-closed': 100,
  aborted: 50,
  'aborted body': 10,
  'garbage after the request': 5,
  'large body': 3,
  'incomplete head': 2,
};
export type Way = keyof typeof ways;

export interface RawRequest {
  method: string;
  /** Path after the base URL. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface RawResponse {
  status: number;
  body: string;
}

/** Bytes that a slow client sends at a time, and the pause after them. */
const SLOW_BYTES = 16;
const SLOW_MILLISECONDS = 400;
/** Maximum time after which a client aborts a request. */
const ABORT_MILLISECONDS = 1_000;
/** A body with this number of chunks exceeds the 6 MiB that Lambda accepts. */
const LARGE_CHUNKS = 120;
const LARGE_CHUNK = chunk(' '.repeat(65_536));

/**
 * Sends requests on a new connection. Except in the way `one by one`, sends all requests before it reads a response.
 *
 * @yields the responses in the order of the requests. There are fewer responses if the connection is lost or aborted.
 */
export async function* exchange(
  baseUrl: string,
  requests: RawRequest[],
  way: Way,
): AsyncGenerator<RawResponse, void, void> {
  const { port, pathname } = new URL(baseUrl);
  const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
  socket.on('error', () => {}); // The connection then has no more responses.
  try {
    await once(socket, 'connect');
    const received = responsesOn(socket);
    const absolute = requests.map((request) => ({ ...request, path: pathname + request.path }));
    const batches = way === 'one by one' ? absolute.map((request) => [request]) : [absolute];
    for (const batch of batches) {
      await send(socket, batch, way);
      if (way.startsWith('aborted')) return;
      for (let missing = batch.length; missing > 0; missing -= 1) {
        const { value: response, done } = await received.next();
        if (done) return;
        yield response;
      }
    }
  } catch {
    // The connection is lost.
  } finally {
    socket.destroy();
  }
}

async function send(socket: Socket, requests: RawRequest[], way: Way): Promise<void> {
  const write = (text: string) => void (socket.writable && socket.write(text, 'latin1'));
  async function writeSlowly(pieces: string[]): Promise<void> {
    for (const piece of pieces) {
      write(piece);
      await setTimeout(SLOW_MILLISECONDS);
    }
  }

  const [request] = requests as [RawRequest];
  // In the encoding latin1, the length of a text is its number of bytes, and therefore its Content-Length.
  const body = Buffer.from(request.body).toString('latin1');
  switch (way) {
    case 'one by one':
    case 'pipelined':
    case 'garbage after the request':
      return write(requests.map(complete).join(''));
    case 'slow head':
      await writeSlowly(slices(headOf(request, `Content-Length: ${body.length}`)));
      return write(body);
    case 'slow body':
      write(headOf(request, `Content-Length: ${body.length}`));
      return writeSlowly(slices(body));
    case 'slow chunks':
      write(headOf(request, 'Transfer-Encoding: chunked'));
      return writeSlowly([...slices(body).map(chunk), chunk('')]);
    case 'half-closed':
      write(complete(request));
      socket.end();
      return;
    case 'aborted':
      write(complete(request));
      await setTimeout(Math.random() * ABORT_MILLISECONDS);
      return;
    case 'aborted body':
      write(complete(request).slice(0, -SLOW_BYTES));
      await setTimeout(Math.random() * ABORT_MILLISECONDS);
      return;
    case 'large body':
      write(headOf(request, 'Transfer-Encoding: chunked'));
      for (let sent = 0; sent < LARGE_CHUNKS; sent += 1) write(LARGE_CHUNK);
      return write(chunk(''));
    case 'incomplete head':
      return write(complete(request).slice(0, SLOW_BYTES));
  }
}

function headOf({ method, path, headers }: RawRequest, framing: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${framing}\r\n\r\n`;
}

function complete(request: RawRequest): string {
  const body = Buffer.from(request.body).toString('latin1');
  return headOf(request, `Content-Length: ${body.length}`) + body;
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function slices(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${SLOW_BYTES}}`, 'g')) ?? [];
}

async function* responsesOn(socket: Socket): AsyncGenerator<RawResponse, undefined, void> {
  let received = '';
  for await (const text of socket.setEncoding('latin1') as AsyncIterable<string>) {
    received += text;
    for (;;) {
      const [head, status] = /^HTTP\/1\.1 (\d{3}).*?\r\n\r\n/s.exec(received) ?? [];
      if (!head) break;
      const end = head.length + Number(/^Content-Length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (received.length < end) break;
      const body = Buffer.from(received.slice(head.length, end), 'latin1').toString();
      received = received.slice(end);
      yield { status: Number(status), body };
    }
  }
}
