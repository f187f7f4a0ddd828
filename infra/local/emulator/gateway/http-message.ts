/** A header or a parameter. */
export type Pair = [name: string, value: string];

export interface HttpRequest {
  method: string;
  /** Percent-encoded path without the query. */
  path: string;
  query: string;
  /** Header names keep their case. A name can occur more than once. */
  headers: Pair[];
  /** Host of the URLs in responses, which is an address of this machine, such as `localhost:3000`. */
  host: string;
  body: Iterable<Buffer> | AsyncIterable<Buffer>;
  sourceIp: string;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Returns all values of a header. The case of the name does not matter. */
export function headerValues({ headers }: Pick<HttpRequest, 'headers'>, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/**
 * Returns the Host header if it names this machine, and otherwise undefined. Any port is accepted, because the client can
 * use a different port than the server, such as the port of an SSH tunnel.
 */
export function localHost(request: Pick<HttpRequest, 'headers'>): string | undefined {
  // Two Host headers result in a text with a comma, which is not a host.
  const host = headerValues(request, 'Host').join();
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host);
  return isLocal && URL.canParse(`http://${host}`) ? host : undefined;
}
