import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawResponse {
  status: number;
  /** Status line and headers, exactly as received. */
  head: string;
  body: string;
}

/** Sends bytes over a new connection. Returns the response when the server closes the connection. */
export async function sendBytes(port: number, ...parts: (string | Buffer)[]): Promise<RawResponse> {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  const response = await text(socket);
  const end = response.indexOf('\r\n\r\n');
  return {
    status: Number(response.split(' ')[1]),
    head: response.slice(0, end),
    body: response.slice(end + 4),
  };
}
