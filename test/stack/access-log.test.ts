import { expect, test } from '@jest/globals';
import { propertiesOf, type ReadableTemplate, readableTemplate } from '../support/stack-template.ts';

/**
 * Variables into which clients cannot insert a quote, line break or API key. Never add a variable that contains the
 * path of the URL, the query string or a header, because clients choose their content.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const variables =
  `requestId extendedRequestId requestTime authorizer.keyId authorizer.reason httpMethod resourcePath status
  error.responseType awsEndpointRequestId integrationStatus responseLatency authorizer.latency integration.latency
  responseLength identity.sourceIp waf.status domainName tlsVersion cipherSuite`
    .split(/\s+/)
    .map((name) => `$context.${name}`);

const template = readableTemplate('staging');

test('the access log has one JSON line per request with exactly the allowed variables', () => {
  const [{ AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  expect(AccessLogSetting.DestinationArn).toMatch(/:log-group:\$\{ApiAccessLog\}$/);
  expect(AccessLogSetting.Format).not.toMatch(/[\r\n]/);
  const { service: logged, ...fields } = JSON.parse(AccessLogSetting.Format);
  expect(logged).toBe('pet-store-staging');
  expect(new Set(Object.values(fields))).toEqual(new Set(variables));
});

const service = 'service=pet-store-staging';
const ofActiveKey = `ActiveKeyRequests ${service}`;
const rejected = `RejectedRequests ${service}`;
const gatewayError = `GatewayErrorResponses ${service}`;
const serverError = `ServerErrors ${service}`;
const key = { 'authorizer.keyId': 'key_1' };
/** What the access log knows about a request, and the metrics that count the request. */
const requests: [what: string, context: Record<string, string>, metrics: string[]][] = [
  ['no key', { status: '401', type: 'ACCESS_DENIED' }, [`${gatewayError} status=401 type=ACCESS_DENIED`]],
  [
    'an expired or revoked key, whose id is logged although it is not an active key',
    { ...key, status: '401', type: 'ACCESS_DENIED' },
    [`${gatewayError} status=401 type=ACCESS_DENIED`],
  ],
  ['success', { ...key, status: '200', awsEndpointRequestId: 'id' }, [ofActiveKey]],
  // Responses of mock integrations have no response type, so API Gateway logs a dash.
  ['a path without a route', { status: '404' }, [`${gatewayError} status=404 type=-`]],
  ['a rejected item', { ...key, status: '422', awsEndpointRequestId: 'id' }, [ofActiveKey, rejected]],
  ['a missing item', { ...key, status: '404', awsEndpointRequestId: 'id' }, [ofActiveKey]],
  [
    'throttling',
    { ...key, status: '429', type: 'THROTTLED' },
    [ofActiveKey, `${gatewayError} status=429 type=THROTTLED`],
  ],
  ['the firewall', { status: '403', type: 'WAF_FILTERED' }, [`${gatewayError} status=403 type=WAF_FILTERED`]],
  ['a failed function', { ...key, status: '503', integrationStatus: '200' }, [ofActiveKey, serverError]],
  ['a throttled function', { status: '503', integrationStatus: '429' }, [serverError]],
  ['a body that is too large for Lambda', { ...key, status: '502', integrationStatus: '413' }, [ofActiveKey]],
];

test('the metric filters count each request in the right metrics', () => {
  const found = requests.map(([what, context]) => [what, countedFor(template, context)]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(requests.map(([what, , metrics]) => [what, metrics])),
  );
});

// It uses API Gateway's own 5xx metric instead.
test('a stage whose firewall blocks has no metric for 5xx responses', () => {
  const counted = countedFor(readableTemplate('production'), { status: '503', integrationStatus: '200' });
  expect(counted).toEqual([]);
});

/** Returns the metrics with their dimensions that the metric filters count for a request with this `$context`. */
function countedFor(one: ReadableTemplate, { type = '-', ...others }: Record<string, string>): string[] {
  const context: Record<string, string> = { ...others, 'error.responseType': type };
  const [{ AccessLogSetting }] = propertiesOf(one, 'AWS::ApiGateway::Stage');
  // API Gateway logs a missing value as a dash.
  const text = AccessLogSetting.Format.replaceAll(
    /\$context\.([\w.]+)/g,
    (_: string, variable: string) => context[variable] ?? '-',
  );
  const line: Record<string, string> = JSON.parse(text);
  return propertiesOf(one, 'AWS::Logs::MetricFilter')
    .filter(({ FilterPattern }) => isMatch(FilterPattern, line))
    .map(({ MetricTransformations: [{ MetricName, Dimensions }] }) => {
      const dimensions = Dimensions.map(({ Key, Value }: any) => `${Key}=${line[Value.slice('$.'.length)]}`);
      return [MetricName, ...dimensions.toSorted()].join(' ');
    });
}

/**
 * Returns whether a line matches a filter pattern. Supports alternatives of comparisons, such as
 * `{ ($.a = "1") || (($.b != "-") && ($.c = "4*")) }`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
function isMatch(pattern: string, line: Record<string, string>): boolean {
  return pattern.split(' || ').some((alternative) => {
    if (alternative.split('(').length !== alternative.split(')').length)
      throw new Error(`Implement the filter pattern ${pattern} in test/stack/access-log.test.ts.`);
    return alternative.split(' && ').every((comparison) => {
      const [, field, operator, text, wildcard] = /\$\.(\w+) (!?=) "([\w-]*)(\*?)"/.exec(comparison)!;
      const value = line[field!]!;
      const isEqual = wildcard ? value.startsWith(text!) : value === text;
      return isEqual === (operator === '=');
    });
  });
}
