import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';

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
  // Characters that no URL may have, and a % that is not followed by the code of an ASCII character, or by that of a slash
  // or a control character. AWS documents that braces and pipes in a query are not supported:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  { status: 400, matches: ({ target }) => /["<>\\^`{|}]|%(?![2-7][\da-f])|%2f|%7f/i.test(target) },
  // A part of the path of more than 1,500 characters.
  { status: 414, matches: ({ target }) => /^[^?]*[^/?]{1501}/.test(target) },
  // Methods that ANY does not stand for ($context.httpMethod), of which a firewall blocks PROPFIND:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
  // https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
  { status: 403, matches: ({ method }) => !/^(?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT)$/.test(method) },
  // Header bytes that are not ASCII.
  { status: 400, matches: ({ headers }) => /[^\t\x20-\x7e]/.test(Object.values(headers).join('')) },
  // An AWS signature, which API Gateway may verify itself (INVALID_SIGNATURE):
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
  { status: 403, matches: ({ headers }) => headerOf(headers, 'Authorization').startsWith('AWS4-') },
  // A body of more than 10 MB, which API Gateway may stop reading:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  { matches: ({ body = '' }) => Buffer.byteLength(body) > 10 * 1024 * 1024 },
  // A body that a firewall rejects, whatever else is wrong with the request (infra/stack/firewall.ts).
  { status: 413, matches: ({ body = '' }) => Buffer.byteLength(body) > MAX_BODY_BYTES },
  // A media type with parameters, where a mock has request templates for the bare type:
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
