import { MAX_URL_CHARACTERS } from '../../shared/contract/limits.ts';

export interface SentRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
}

interface AwsRejection {
  /** Status with which the gateway of a test rejects it; AWS may choose another 4xx. If omitted, the connection may end. */
  status?: number;
  matches: (request: SentRequest) => boolean;
}

/**
 * Requests that AWS may reject before this stack has a say, with a status and a body of its own. Where no page of AWS is
 * named, none says what API Gateway does. A body that is not UTF-8 is not listed, because API Gateway passes it on.
 */
export const awsRejections: AwsRejection[] = [
  // The first characters are not allowed in any URL (RFC 3986). API Gateway rejects braces and pipes in a query at least:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  { status: 400, matches: ({ target }) => /["<>\\^`{|}]/.test(target) || !isDecodable(target) },
  // An encoded control character or slash.
  { status: 400, matches: ({ target }) => /%(?:[01][\da-f]|7f|2f)/i.test(target) },
  // AWS documents the length of a URL, not the response to a longer one, and no length of a part of the path:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  {
    status: 414,
    matches: ({ target }) => target.length > MAX_URL_CHARACTERS || /^[^?]*[^/?]{1500}/.test(target),
  },
  // Methods that ANY does not stand for:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html ($context.httpMethod)
  // A firewall blocks PROPFIND: https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
  { status: 403, matches: ({ method }) => !/^(?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT)$/.test(method) },
  // Header bytes that are not ASCII.
  { status: 400, matches: ({ headers }) => /[^\t\x20-\x7e]/.test(Object.values(headers).join('')) },
  // An AWS signature, which API Gateway may verify wherever no authorizer reads it: INVALID_SIGNATURE.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
  { status: 403, matches: ({ headers }) => headerOf(headers, 'Authorization').startsWith('AWS4-') },
  // More than the payload quota, of 10 MB: API Gateway may stop reading.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  { matches: ({ body = '' }) => Buffer.byteLength(body) > 10 * 1024 * 1024 },
  // A media type with parameters, at a mock, whose request templates have bare types as names:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/integration-passthrough-behaviors.html
  {
    status: 415,
    matches: (request) => !isCreate(request) && headerOf(request.headers, 'Content-Type').includes(';'),
  },
];

function isDecodable(target: string): boolean {
  try {
    return decodeURIComponent(target) !== '';
  } catch {
    return false;
  }
}

function isCreate({ method, target }: SentRequest): boolean {
  return method === 'POST' && /\/pets\/?$/.test(target);
}

function headerOf(headers: Record<string, string>, name: string): string {
  return new Headers(headers).get(name) ?? '';
}
