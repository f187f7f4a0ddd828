import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawAnswer {
  status: number;
  /** The head as sent, status line included. */
  head: string;
  body: string;
}

/** Sends these bytes over a connection of its own, leaves it open, and reads what comes until the other side closes it. */
export async function sendBytes(port: number, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  const answer = await text(socket);
  const end = answer.indexOf('\r\n\r\n');
  return {
    status: Number(answer.split(' ')[1]),
    head: answer.slice(0, end),
    body: answer.slice(end + 4),
  };
}
