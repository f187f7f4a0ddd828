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
  // Unlike requestId, clients cannot choose this id.
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  keyId: '$context.authorizer.keyId',
  method: '$context.httpMethod',
  resource: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  functionRequestId: '$context.awsEndpointRequestId',
  // The status of the Lambda service, which is 200 if the function was invoked.
  integrationStatus: '$context.integrationStatus',
  latency: '$context.responseLatency',
  authorizerLatency: '$context.authorizer.latency',
  integrationLatency: '$context.integration.latency',
  responseLength: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
  firewall: '$context.waf.status',
  traceId: '$context.xrayTraceId',
};

/** Error responses of API Gateway, including mocks and the web ACL. The type of a mock's response is a dash. */
export const gatewayErrorResponsesMetric = { name: 'GatewayErrorResponses', dimensions: ['status', 'type'] };

/**
 * 5xx responses that the client did not cause, counted only in stages without a firewall. API Gateway accepts requests
 * of up to 10 MB. Lambda rejects those above 6,291,456 bytes with a 413, which API Gateway can turn into a 5xx.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const serverErrorsMetric = { name: 'ServerErrors' };

/** Adds an access log with one line of JSON per request, and metrics that count these lines. */
export function accessLog(
  scope: Construct,
  stage: string,
  settings: StageSettings,
): Pick<StageOptions, 'accessLogDestination' | 'accessLogFormat'> {
  const logGroup = createLogGroup(scope, 'AccessLog', settings);
  const counts = { logGroup, metricNamespace, metricValue: '1' };
  // A missing value is logged as a dash.
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
