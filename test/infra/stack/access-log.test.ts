import { describe, expect, test } from '@jest/globals';
import { metricOf, requestCounts } from '../../support/cloudwatch.ts';
import { propertiesOf, readableTemplate, stageNames } from '../../support/stack-template.ts';

/**
 * What API Gateway itself knows of a request. A variable may be added if no client can put a quote, a line break or a
 * key into it. No path, header, query or body is among them.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const fields = {
  requestId: '$context.requestId',
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  keyId: '$context.authorizer.keyId',
  method: '$context.httpMethod',
  // The route, `/v1/pets/{petId}`, not the requested path.
  resource: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  functionRequestId: '$context.awsEndpointRequestId',
  integrationStatus: '$context.integrationStatus',
  latency: '$context.responseLatency',
  authorizerLatency: '$context.authorizer.latency',
  integrationLatency: '$context.integration.latency',
  responseLength: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
  firewall: '$context.waf.status',
  traceId: '$context.xrayTraceId',
};

describe.each(stageNames)('the access log of %s', (stage) => {
  const template = readableTemplate(stage);
  const [apiStage, ...otherStages] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  const { DestinationArn, Format } = apiStage.AccessLogSetting;

  test('has a log group of its own', () => {
    expect(DestinationArn).toBe(
      'arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:${ApiAccessLog}',
    );
  });

  test('has a line of JSON for each request, with nothing as the client sent it, and no key', () => {
    expect(Format).not.toMatch(/[\r\n]/);
    expect(JSON.parse(Format)).toEqual({ service: `pet-store-${stage}`, ...fields });
  });

  // Execution logs would hold headers, keys among them, and bodies.
  test('is the only log that API Gateway writes', () => {
    expect(otherStages).toEqual([]);
    expect(apiStage.MethodSettings).toMatchObject([{ LoggingLevel: 'OFF', DataTraceEnabled: false }]);
  });

  test.each<
    [what: string, metric: string, counted: boolean, context: { status: string; [variable: string]: string }]
  >([
    [
      'a 401 of API Gateway',
      'GatewayRefusals',
      true,
      { status: '401', 'error.responseType': 'UNAUTHORIZED' },
    ],
    ['a 404 of a mock', 'GatewayRefusals', true, { status: '404' }],
    ['a 404 of a function', 'GatewayRefusals', false, { status: '404', awsEndpointRequestId: 'id' }],
    ['a 200', 'GatewayRefusals', false, { status: '200', awsEndpointRequestId: 'id' }],
    ['a 503 of a function', 'ServerErrors', true, { status: '503', integrationStatus: '200' }],
    ['a throttled call', 'ServerErrors', true, { status: '503', integrationStatus: '429' }],
    ['a 503 of API Gateway', 'ServerErrors', true, { status: '503' }],
    ['a request too large for Lambda', 'ServerErrors', false, { status: '502', integrationStatus: '413' }],
    ['a 429', 'ServerErrors', false, { status: '429' }],
  ])('of %s, %s counts: %s', (_what, metric, isCounted, context) => {
    const dimensions = { service: `pet-store-${stage}` };
    const { status, 'error.responseType': type = '-' } = context;
    const names = {
      GatewayRefusals: metricOf('PetStore', metric, { ...dimensions, status, type }),
      ServerErrors: metricOf('PetStore', metric, dimensions),
    };
    const counted = requestCounts(template, 1, context).map(([, name]) => name);
    expect(counted.includes(names[metric as keyof typeof names])).toBe(isCounted);
  });
});
