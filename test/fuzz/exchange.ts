import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer } from './answers.ts';

/** Cuts bytes at these of a hundred parts. */
export function pieces(bytes: Buffer, percents: number[]): Buffer[] {
  const ends = percents
    .map((percent) => Math.floor((bytes.length * percent) / 100))
    .toSorted((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/**
 * Sends bytes over a connection of its own and reads until there is a whole answer.
 *
 * @param isEnd whether the client says that nothing more will come.
 * @throws Error with what came when the connection is closed before.
 */
export async function exchange(
  port: number,
  parts: Buffer[],
  method: string,
  isEnd: boolean,
): Promise<Answer> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let received = '';
  const answered = new Promise<Answer>((resolve, reject) => {
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const answer = readAnswer(received, method);
      if (answer) resolve(answer);
    });
    // A server that has answered may reset what is still being sent.
    socket.on('error', () => {});
    socket.on('close', () => reject(new Error(`The connection ended with ${JSON.stringify(received)}`)));
    socket.on('end', () => socket.destroy());
  });
  answered.catch(() => {}); // nobody waits for it when there is no connection
  try {
    await once(socket, 'connect');
    for (const part of parts)
      await Promise.race([new Promise((resolve) => socket.write(part, resolve)), answered]);
    if (isEnd) socket.end();
    return await answered;
  } finally {
    socket.destroy();
  }
}

/** The first answer that is whole, interim ones (RFC 9110 section 15.2) aside. */
function readAnswer(received: string, method: string): Answer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...fields] = received.slice(0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const rest = received.slice(headEnd + 4);
  if (status < 200) return readAnswer(rest, method);
  const headers = new Headers(
    fields.map((field): [string, string] => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon), field.slice(colon + 1)];
    }),
  );
  const length = method === 'HEAD' ? 0 : Number(headers.get('Content-Length') ?? Number.NaN);
  if (!(rest.length >= length)) return undefined;
  return { status, headers, text: Buffer.from(rest.slice(0, length), 'latin1').toString() };
}
