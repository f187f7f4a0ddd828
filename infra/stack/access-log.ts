import { AccessLogFormat, LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigateway';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { metricNamespace, serviceName } from '../../shared/names.ts';
import { createLogGroup } from './log-group.ts';
import type { StageSettings } from '../settings.ts';

/**
 * Fields of the access log. Paths, query strings and headers are omitted, because API Gateway does not escape values.
 * A quote in a path or a `User-Agent` would make the line invalid JSON.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const fields = {
  requestId: '$context.requestId',
  // Clients can choose requestId, but not extendedRequestId.
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  keyId: '$context.authorizer.keyId',
  method: '$context.httpMethod',
  resource: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  functionRequestId: '$context.awsEndpointRequestId',
  // The Lambda service returns this status, which is 200 if the function was invoked.
  integrationStatus: '$context.integrationStatus',
  latency: '$context.responseLatency',
  authorizerLatency: '$context.authorizer.latency',
  integrationLatency: '$context.integration.latency',
  responseLength: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
  firewall: '$context.waf.status',
  traceId: '$context.xrayTraceId',
};

/** Counts error responses of API Gateway, its mocks and the web ACL. Responses of mocks have a dash as their type. */
export const gatewayErrorResponsesMetric = { name: 'GatewayErrorResponses', dimensions: ['status', 'type'] };

/**
 * Counts 5xx responses in stages without a firewall, except for 5xx responses that clients cause with large bodies.
 * Lambda rejects bodies above 6,291,456 bytes with a 413, which API Gateway can turn into a 5xx.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const serverErrorsMetric = { name: 'ServerErrors' };

/** Adds an access log with one JSON line per request, and metric filters that count error responses. */
export function accessLog(
  scope: Construct,
  stage: string,
  settings: StageSettings,
): Pick<StageOptions, 'accessLogDestination' | 'accessLogFormat'> {
  const logGroup = createLogGroup(scope, 'AccessLog', settings);
  const counts = { logGroup, metricNamespace, metricValue: '1' };
  // API Gateway logs a dash for a missing value.
  new MetricFilter(scope, 'GatewayErrorResponses', {
    ...counts,
    filterPattern: FilterPattern.any(
      FilterPattern.stringValue('$.errorType', '!=', '-'),
      FilterPattern.all(
        FilterPattern.stringValue('$.functionRequestId', '=', '-'),
        FilterPattern.stringValue('$.status', '=', '4*'),
      ),
    ),
    metricName: gatewayErrorResponsesMetric.name,
    dimensions: { service: '$.service', status: '$.status', type: '$.errorType' },
  });
  if (!settings.firewall) {
    new MetricFilter(scope, 'ServerErrors', {
      ...counts,
      filterPattern: FilterPattern.all(
        FilterPattern.stringValue('$.status', '=', '5*'),
        FilterPattern.stringValue('$.integrationStatus', '!=', '413'),
      ),
      metricName: serverErrorsMetric.name,
      dimensions: { service: '$.service' },
    });
  }
  return {
    accessLogDestination: new LogGroupLogDestination(logGroup),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify({ service: serviceName(stage), ...fields })),
  };
}
