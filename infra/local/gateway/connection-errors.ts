import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type ErrorBody, errorBody } from '../../../shared/contract/errors.ts';
import { MAX_HEADER_BYTES, MAX_URL_CHARACTERS } from '../../../shared/contract/limits.ts';
import type { ApiGateway } from './api-gateway.ts';

// If a request is invalid HTTP, too large or too slow, the client gets an Error body instead of a gateway response. The
// server then closes the connection, because it cannot determine where the next request starts.

const LINGER_MILLISECONDS = 2_000;
const VERSION = 'the version must be HTTP/1.1 or HTTP/1.0';

/** Clearer messages for some error codes of the HTTP parser. */
const reasons: Record<string, string> = {
  HPE_INVALID_CONSTANT: VERSION,
  HPE_INVALID_VERSION: VERSION,
  HPE_PAUSED_H2_UPGRADE: VERSION,
  HPE_INVALID_EOF_STATE: 'it is incomplete',
};

/** Returns an error if the URL or the headers are invalid or too large, or undefined otherwise. */
function headError(request: IncomingMessage): ErrorBody | undefined {
  const { url = '', rawHeaders, httpVersion, headersDistinct } = request;
  if (url.length > MAX_URL_CHARACTERS) {
    return tooLarge(`The URL is limited to ${MAX_URL_CHARACTERS} characters.`);
  }
  // The two spaces represent the colon and the space after a name, and the CR LF after a value.
  if (rawHeaders.join('  ').length + 2 > MAX_HEADER_BYTES) {
    return tooLarge(`The headers are limited to ${MAX_HEADER_BYTES} bytes in total.`);
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return invalid(VERSION);
  const { host: hosts = [], 'transfer-encoding': encodings } = headersDistinct;
  // Other transfer encodings allow request smuggling, because proxies parse them differently (RFC 9112 section 6.1).
  if (encodings && (httpVersion === '1.0' || encodings.join().toLowerCase() !== 'chunked')) {
    return invalid('Transfer-Encoding must be chunked and requires HTTP/1.1');
  }
  // RFC 9112 section 3.2 requires exactly one Host header in HTTP/1.1.
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) {
    return invalid('exactly one Host header is required');
  }
  const isValid = hosts.every((host) => /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(host));
  return isValid ? undefined : invalid('Host must be a name or an IP address, with an optional port');
}

/**
 * Rejects requests that are invalid or do not arrive in time.
 *
 * @param inFlight responses in progress. Responses to rejected requests are removed from the set.
 * @returns a function that returns whether a request is accepted
 */
export function rejectInvalidRequests(
  server: Server,
  api: ApiGateway,
  inFlight: Set<ServerResponse>,
): (request: IncomingMessage) => boolean {
  const rejected = new WeakSet<Duplex>();

  async function reject(socket: Duplex, error: ErrorBody, method?: string): Promise<void> {
    if (rejected.has(socket)) return; // Node emits a new error for each further packet.
    rejected.add(socket);
    const ofSocket = [...inFlight].filter(({ req }) => req.socket === socket);
    for (const outgoing of ofSocket) if (!outgoing.req.complete) inFlight.delete(outgoing);
    const earlier = ofSocket.filter(({ req }) => req.complete);
    await Promise.all(earlier.map((outgoing) => once(outgoing, 'close')));
    const { headers } = api.gatewayResponse('DEFAULT_4XX');
    sendOnConnection(socket, headers, error, method === 'HEAD');
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => void reject(socket, clientError(error)));
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy()); // Without a listener, an error would end the process.
    void reject(socket, invalid('the method CONNECT is not supported'));
  });

  return (request) => {
    const error = headError(request);
    if (error) void reject(request.socket, error, request.method);
    if (!rejected.has(request.socket)) return true;
    request.resume();
    return false;
  };
}

function clientError({ code = '', reason }: NodeJS.ErrnoException & { reason?: string }): ErrorBody {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errorBody('request_timeout');
  if (code === 'HPE_HEADER_OVERFLOW') return tooLarge();
  const explanation = reasons[code] ?? reason;
  return explanation === undefined ? errorBody('invalid_request') : invalid(explanation);
}

function invalid(reason: string): ErrorBody {
  return errorBody('invalid_request', `The request is not valid HTTP: ${reason}.`);
}

function tooLarge(message?: string): ErrorBody {
  return errorBody('request_header_fields_too_large', message);
}

function sendOnConnection(
  socket: Duplex,
  headers: Record<string, string>,
  error: ErrorBody,
  isHead: boolean,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(error);
  const fields = Object.entries({
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head}\r\n${isHead ? '' : body}`);
  // If a connection with unread data is closed immediately, the response can be lost (RFC 9112 section 9.6).
  void setTimeout(LINGER_MILLISECONDS, undefined, { ref: false }).then(() => socket.destroy());
}
