import { describe, expect, test } from '@jest/globals';
import { metricNamespace, serviceName } from '../../../shared/names.ts';
import { stages } from '../../support/stages.ts';
import { requestCounts } from './cloudwatch.ts';
import { propertiesOf, readableTemplate, stageNames } from '../../support/stack-template.ts';

/**
 * Variables that clients cannot set to a quote, a line break or an API key. Never add paths, headers or query strings.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const variables = `requestId extendedRequestId requestTime authorizer.keyId httpMethod resourcePath status
  error.responseType awsEndpointRequestId integrationStatus responseLatency authorizer.latency integration.latency
  responseLength identity.sourceIp waf.status xrayTraceId`
  .split(/\s+/)
  .map((name) => `$context.${name}`);

describe.each(stageNames)('the access log of %s', (stage) => {
  const template = readableTemplate(stage);
  const [{ AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');

  test('has one JSON line per request with only the allowed variables', () => {
    expect(AccessLogSetting.DestinationArn).toMatch(/:log-group:\$\{ApiAccessLog\}$/);
    expect(AccessLogSetting.Format).not.toMatch(/[\r\n]/);
    const { service: logged, ...fields } = JSON.parse(AccessLogSetting.Format);
    expect(logged).toBe(serviceName(stage));
    expect(new Set(Object.values(fields))).toEqual(new Set(variables));
  });

  const gatewayErrors = 'GatewayErrorResponses';
  const service = `service=${serviceName(stage)}`;
  const serverErrors = 'firewall' in stages[stage] ? 'nothing' : 'ServerErrors';
  test.each([
    [gatewayErrors, ' status=401 type=DENIED', { status: '401', 'error.responseType': 'DENIED' }],
    // Responses of mocks have no type, so API Gateway logs a dash.
    [gatewayErrors, ' status=404 type=-', { status: '404' }],
    // Stages with a firewall use API Gateway's own 5xx metric instead of ServerErrors.
    [serverErrors, '', { status: '503', integrationStatus: '200' }],
    [serverErrors, '', { status: '503', integrationStatus: '429' }],
    ['nothing', '', { status: '502', integrationStatus: '413' }],
    ['nothing', '', { status: '404', awsEndpointRequestId: 'id' }],
  ])('counts %s%s for a request with %j', (metric, dimensions, context) => {
    const counted = requestCounts(template, 1, context).map(([, name]) => name);
    const expected = metric === 'nothing' ? [] : [`${metricNamespace} ${metric} ${service}${dimensions}`];
    expect(counted.filter((name) => name.startsWith(`${metricNamespace} `))).toEqual(expected);
  });
});
