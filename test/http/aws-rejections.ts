import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';
import { collections } from '../../shared/contract/operations.ts';
import type { Exchange } from '../support/contract.ts';

/** A request as the client sends it. Unlike in `Exchange`, `target` has the complete path, such as '/v1/books'. */
export type SentRequest = Omit<Exchange, 'response'>;

interface AwsRejection {
  /**
   * Status that the strict gateway in test/operate/smoke.proof.ts returns. AWS may return a different 4xx.
   *
   * @default - the gateway closes the connection
   */
  status?: number;
  matches: (request: SentRequest) => boolean | undefined;
}

/**
 * Requests that AWS may reject with its own status and body. Except for the firewall's limit, which the stack sets, AWS
 * does not document whether and how it rejects the requests of entries without a link.
 */
export const awsRejections: AwsRejection[] = [
  // Matches characters that are invalid in a URL, malformed percent-encoding, and percent-encoded slashes, control
  // characters and non-ASCII bytes.
  // AWS documents that clients must percent-encode braces and pipes in a query.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  { status: 400, matches: ({ target }) => /["<>\\^`{|}]|%(?![2-7][\da-f])|%2f|%7f/i.test(target) },
  // Matches a path segment of more than 1,500 characters.
  { status: 414, matches: ({ target }) => /^[^?]*[^/?]{1501}/.test(target) },
  // Matches all methods except the valid values of API Gateway's variable $context.httpMethod. AWS WAF's managed rules
  // can also block PROPFIND.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
  // https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
  { status: 403, matches: ({ method }) => !/^(?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT)$/.test(method) },
  // Matches header values with control characters or non-ASCII bytes.
  { status: 400, matches: ({ headers }) => /[^\t\x20-\x7e]/.test(Object.values(headers).join('')) },
  // Matches an AWS signature, which API Gateway may verify (INVALID_SIGNATURE).
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
  { status: 403, matches: ({ headers }) => new Headers(headers).get('Authorization')?.startsWith('AWS4-') },
  // Matches a body of more than 10 MB, which exceeds API Gateway's quota.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  { matches: ({ body = '' }) => Buffer.byteLength(body) > 10 * 1024 * 1024 },
  // Matches a body that the firewall in infra/stack/firewall.ts rejects, whether or not the request is valid otherwise.
  { status: 413, matches: ({ body = '' }) => Buffer.byteLength(body) > MAX_BODY_BYTES },
  // Matches media types with parameters, for which the mock integrations have no request templates. Creates have no
  // mock integration.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/integration-passthrough-behaviors.html
  {
    status: 415,
    matches: ({ method, target, headers }) =>
      new Headers(headers).get('Content-Type')?.includes(';') &&
      !(method === 'POST' && collections.some(({ path }) => target.replace(/\/$/, '').endsWith(path))),
  },
];
