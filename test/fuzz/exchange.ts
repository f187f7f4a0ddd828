import { connect } from 'node:net';
import type { ApiResponse } from './responses.ts';

/** Splits `bytes` at the given positions, which are percentages of the length. */
export function slices(bytes: Buffer, percents: number[]): Buffer[] {
  const ends = percents
    .map((percent) => Math.floor((bytes.length * percent) / 100))
    .toSorted((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/**
 * Sends bytes over a new connection, half-closes the connection, and reads the first response.
 *
 * @throws Error with the received bytes if the response is incomplete
 */
export async function exchange(port: number, parts: Buffer[], method: string): Promise<ApiResponse> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let received = '';
  socket.setEncoding('latin1').on('data', (text) => (received += String(text)));
  socket.on('error', () => {}); // The server can reset the connection after its response.
  const closed = new Promise((resolve) => socket.on('close', resolve));
  for (const part of parts)
    await Promise.race([new Promise((resolve) => socket.write(part, resolve)), closed]);
  socket.end();
  await closed;

  const [, status, fields, rest] = /^HTTP\/1\.1 (\d{3}) .*?\r\n(.*?)\r\n\r\n(.*)$/s.exec(received) ?? [];
  const headers = new Headers(
    fields?.split('\r\n').map((field): [string, string] => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon), field.slice(colon + 1)];
    }),
  );
  const length = method === 'HEAD' ? 0 : Number(headers.get('Content-Length') ?? Number.NaN);
  if (rest === undefined || !(rest.length >= length))
    throw new Error(`The response is incomplete: ${JSON.stringify(received)}`);
  return { status: Number(status), headers, text: Buffer.from(rest.slice(0, length), 'latin1').toString() };
}
