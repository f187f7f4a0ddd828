import { describe, expect, test } from '@jest/globals';
import { serviceName } from '../../shared/names.ts';
import { stages } from '../support/stages.ts';
import {
  propertiesOf,
  type ReadableTemplate,
  readableTemplate,
  stageNames,
} from '../support/stack-template.ts';

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

describe.each(stageNames)('the access log of %s', (stage) => {
  const template = readableTemplate(stage);
  const [{ AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');

  test('has one JSON line per request with exactly the allowed variables', () => {
    expect(AccessLogSetting.DestinationArn).toMatch(/:log-group:\$\{ApiAccessLog\}$/);
    expect(AccessLogSetting.Format).not.toMatch(/[\r\n]/);
    const { service: logged, ...fields } = JSON.parse(AccessLogSetting.Format);
    expect(logged).toBe(serviceName(stage));
    expect(new Set(Object.values(fields))).toEqual(new Set(variables));
  });

  const service = `service=${serviceName(stage)}`;
  const ofActiveKey = `ActiveKeyRequests ${service}`;
  const rejected = `RejectedRequests ${service}`;
  const gatewayError = `GatewayErrorResponses ${service}`;
  const serverErrors = stages[stage].firewall.action === 'block' ? [] : [`ServerErrors ${service}`];
  const key = { 'authorizer.keyId': 'key_1' };
  test.each<[context: Record<string, string>, metrics: string[]]>([
    [{ status: '401', type: 'ACCESS_DENIED' }, [`${gatewayError} status=401 type=ACCESS_DENIED`]],
    // The id of an expired or revoked key is logged, but the key is not an active key.
    [{ ...key, status: '401', type: 'ACCESS_DENIED' }, [`${gatewayError} status=401 type=ACCESS_DENIED`]],
    [{ ...key, status: '200', awsEndpointRequestId: 'id' }, [ofActiveKey]],
    // Responses of mock integrations have no response type, so API Gateway logs a dash.
    [{ status: '404' }, [`${gatewayError} status=404 type=-`]],
    [{ ...key, status: '400', awsEndpointRequestId: 'id' }, [ofActiveKey, rejected]],
    [{ ...key, status: '422', awsEndpointRequestId: 'id' }, [ofActiveKey, rejected]],
    [
      { ...key, status: '429', type: 'THROTTLED' },
      [ofActiveKey, `${gatewayError} status=429 type=THROTTLED`],
    ],
    [{ status: '403', type: 'WAF_FILTERED' }, [`${gatewayError} status=403 type=WAF_FILTERED`]],
    [{ ...key, status: '404', awsEndpointRequestId: 'id' }, [ofActiveKey]],
    // If `firewall.action` is `block`, the stage uses API Gateway's own 5xx metric instead of ServerErrors.
    [{ status: '503', integrationStatus: '200' }, serverErrors],
    [{ status: '503', integrationStatus: '429' }, serverErrors],
    [{ status: '502', integrationStatus: '413' }, []],
    [{ ...key, status: '503', integrationStatus: '200' }, [ofActiveKey, ...serverErrors]],
    [{ ...key, status: '502', integrationStatus: '413' }, [ofActiveKey]],
  ])('maps a request with %j to the metrics %j', ({ type = '-', ...context }, metrics) => {
    const counted = countedFor(template, { ...context, 'error.responseType': type });
    expect(counted).toEqual(metrics);
  });
});

/** Returns the metrics with their dimensions that the metric filters count for a request with this `$context`. */
function countedFor(template: ReadableTemplate, context: Record<string, string>): string[] {
  const [{ AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  // API Gateway logs a missing value as a dash.
  const text = AccessLogSetting.Format.replaceAll(
    /\$context\.([\w.]+)/g,
    (_: string, variable: string) => context[variable] ?? '-',
  );
  const line: Record<string, string> = JSON.parse(text);
  return propertiesOf(template, 'AWS::Logs::MetricFilter')
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
