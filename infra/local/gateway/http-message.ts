/** An HTTP request as API Gateway receives it. */
export interface HttpRequest {
  method: string;
  /** Percent-encoded, without query. */
  path: string;
  /** What follows the question mark, undecoded. */
  query: string;
  /** Names as sent; a name may come more than once. */
  headers: [name: string, value: string][];
  body: Buffer;
  sourceIp: string;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** All values of a header, whatever the case of its name. */
export function headerValues({ headers }: Pick<HttpRequest, 'headers'>, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}
