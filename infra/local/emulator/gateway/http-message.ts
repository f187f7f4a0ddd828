export interface HttpRequest {
  method: string;
  /** Percent-encoded path without the query. */
  path: string;
  query: string;
  /** Header names keep their case. A name can occur more than once. */
  headers: [name: string, value: string][];
  body: Buffer;
  sourceIp: string;
}

export const NO_CONTENT = 204;

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function headerValues({ headers }: Pick<HttpRequest, 'headers'>, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}
