import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';

export interface SentRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
}

interface AwsRejection {
  /** Status of the rejection by a test gateway; AWS may use another 4xx. If omitted, the connection may be closed. */
  status?: number;
  matches: (request: SentRequest) => boolean;
}

/**
 * Requests that AWS may reject before they reach this stack, with its own status and body. Without a link to AWS's
 * documentation, the behavior of API Gateway is undocumented. API Gateway accepts bodies that are not UTF-8.
 */
export const awsRejections: AwsRejection[] = [
  // Characters that are invalid in a URL, and a % that is not followed by the code of an ASCII character, or is followed by
  // that of a slash or a control character. AWS documents that it supports neither braces nor pipes in a query:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  { status: 400, matches: ({ target }) => /["<>\\^`{|}]|%(?![2-7][\da-f])|%2f|%7f/i.test(target) },
  // A path segment of more than 1,500 characters.
  { status: 414, matches: ({ target }) => /^[^?]*[^/?]{1501}/.test(target) },
  // Methods that ANY does not include ($context.httpMethod). A firewall blocks one of them, PROPFIND:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
  // https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
  { status: 403, matches: ({ method }) => !/^(?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT)$/.test(method) },
  // Headers with bytes that are not ASCII.
  { status: 400, matches: ({ headers }) => /[^\t\x20-\x7e]/.test(Object.values(headers).join('')) },
  // An AWS signature, which API Gateway may verify (INVALID_SIGNATURE):
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
  { status: 403, matches: ({ headers }) => headerOf(headers, 'Authorization').startsWith('AWS4-') },
  // A body of more than 10 MB, which exceeds the quota of API Gateway:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  { matches: ({ body = '' }) => Buffer.byteLength(body) > 10 * 1024 * 1024 },
  // A body that the firewall rejects regardless of the rest of the request (infra/stack/firewall.ts).
  { status: 413, matches: ({ body = '' }) => Buffer.byteLength(body) > MAX_BODY_BYTES },
  // A media type with parameters, if a mock integration has request templates only for the type without them:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/integration-passthrough-behaviors.html
  {
    status: 415,
    matches: ({ method, target, headers }) =>
      headerOf(headers, 'Content-Type').includes(';') && !/^POST .*\/pets\/?$/.test(`${method} ${target}`),
  },
];

function headerOf(headers: Record<string, string>, name: string): string {
  return new Headers(headers).get(name) ?? '';
}
