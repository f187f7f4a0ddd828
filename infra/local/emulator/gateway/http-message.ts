export type Pair = [name: string, value: string];

export interface HttpRequest {
  method: string;
  /** Percent-encoded path without the query. */
  path: string;
  query: string;
  /** Header names keep their case. A name can occur more than once. */
  headers: Pair[];
  body: Iterable<Buffer> | AsyncIterable<Buffer>;
  sourceIp: string;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function headerValues({ headers }: HttpRequest, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}
