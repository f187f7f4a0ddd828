import { describe, expect, test } from '@jest/globals';
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

  test('counts error responses that no function sent, by status and type', () => {
    expect(propertiesOf(template, 'AWS::Logs::MetricFilter')).toEqual([
      {
        LogGroupName: '${ApiAccessLog}',
        // API Gateway writes a dash where there is no value.
        FilterPattern: '{ ($.errorType != "-") || (($.functionRequestId = "-") && ($.status = "4*")) }',
        MetricTransformations: [
          {
            MetricNamespace: 'PetStore',
            MetricName: 'GatewayRefusals',
            MetricValue: '1',
            Dimensions: ['service', 'status', 'type'].map((Key) => ({
              Key,
              Value: Key === 'type' ? '$.errorType' : `$.${Key}`,
            })),
          },
        ],
      },
    ]);
  });
});
