import { describe, expect, test } from '@jest/globals';
import {
  asText,
  type Resource,
  resourceOf,
  resourcesOf,
  stackTemplate,
  stageNames,
} from '../../support/stack-template.ts';

/**
 * What API Gateway itself knows of a request. A variable may join when no client can put a quote, a line break or
 * a key into it; no path, header, query or body is among them.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const harmless = new Set<unknown>([
  // The authorizer's own id of the key.
  '$context.authorizer.keyId',
  '$context.authorizer.latency',
  '$context.awsEndpointRequestId',
  '$context.error.responseType',
  '$context.extendedRequestId',
  // An HTTP token: letters, digits and none of the characters that JSON knows.
  '$context.httpMethod',
  '$context.identity.sourceIp',
  '$context.integration.latency',
  '$context.requestId',
  '$context.requestTime',
  // The route, `/v1/pets/{petId}`, and not the path that was asked for.
  '$context.resourcePath',
  '$context.responseLatency',
  '$context.responseLength',
  '$context.status',
  '$context.waf.status',
  '$context.xrayTraceId',
]);

describe.each(stageNames)('the access log of %s', (stage) => {
  const template = stackTemplate(stage);
  const apiStages = resourcesOf(template, 'AWS::ApiGateway::Stage');
  const [[, { Properties: apiStage }]] = apiStages as [[string, Resource]];
  const [logGroupId, logGroup] = resourceOf(template, 'AWS::Logs::LogGroup', 'ApiAccessLog');
  const format: string = apiStage['AccessLogSetting'].Format;
  const fields: Record<string, unknown> = JSON.parse(format);

  test('has a log group of its own', () => {
    expect(asText(apiStage['AccessLogSetting'].DestinationArn)).toBe(
      `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:\${${logGroupId}}`,
    );
  });

  test('is kept as long as the stage says, and outlives the stack in production', () => {
    expect(logGroup.Properties).toEqual({ RetentionInDays: { staging: 14, production: 365 }[stage] });
    expect(logGroup).toMatchObject(
      {
        staging: { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' },
        production: { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' },
      }[stage],
    );
  });

  describe('has a line for each request, which', () => {
    test('is one object of JSON, whatever stands in for the variables', () => {
      expect(format).not.toMatch(/[\r\n]/);
      const written = format.replaceAll(/\$context(?:\.\w+)+/g, '-');
      expect(Object.keys(JSON.parse(written))).toEqual(Object.keys(fields));
      expect(written).not.toContain('$');
    });

    test.each([
      ['which service was asked', 'service', `pet-store-${stage}`],
      ['when', 'time', '$context.requestTime'],
      ['which request it was', 'requestId', '$context.requestId'],
      ['which one, by an id that no client can choose', 'extendedRequestId', '$context.extendedRequestId'],
      ['with which key', 'keyId', '$context.authorizer.keyId'],
      ['by which method', 'method', '$context.httpMethod'],
      ['on which route', 'resource', '$context.resourcePath'],
      ['what was answered', 'status', '$context.status'],
      ['which call of a function it came to', 'functionRequestId', '$context.awsEndpointRequestId'],
      ['why API Gateway refused it', 'errorType', '$context.error.responseType'],
      ['how many milliseconds it took', 'latency', '$context.responseLatency'],
    ])('says %s', (_what, field, value) => {
      expect(fields[field]).toBe(value);
    });

    test('has nothing in it as the client sent it, and no key', () => {
      const { service: _, ...variables } = fields;
      expect(Object.values(variables).filter((value) => !harmless.has(value))).toEqual([]);
    });
  });

  // Execution logs would hold headers, keys among them, and bodies.
  test('is the only one that API Gateway writes', () => {
    expect(apiStages).toHaveLength(1);
    const settings: any[] = apiStage['MethodSettings'];
    expect(settings.map(({ LoggingLevel, DataTraceEnabled }) => [LoggingLevel, DataTraceEnabled])).toEqual([
      ['OFF', false],
    ]);
  });

  test('counts what was refused without a function, by status and reason', () => {
    const filters = resourcesOf(template, 'AWS::Logs::MetricFilter');
    expect(filters.map(([, { Properties }]) => Properties)).toEqual([
      {
        LogGroupName: { Ref: logGroupId },
        // A dash stands where there is no value.
        FilterPattern: expect.stringMatching(
          /^\{ \(?\$\.errorType != "-"\)? \|\| \(\(?\$\.functionRequestId = "-"\)? && \(?\$\.status = "4\*"\)?\) \}$/,
        ),
        MetricTransformations: [
          {
            MetricNamespace: 'PetStore',
            MetricName: 'GatewayRefusals',
            MetricValue: '1',
            Dimensions: [
              { Key: 'service', Value: '$.service' },
              { Key: 'status', Value: '$.status' },
              { Key: 'type', Value: '$.errorType' },
            ],
          },
        ],
      },
    ]);
  });
});
