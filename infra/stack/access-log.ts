import { AccessLogFormat, LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigateway';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { metricNamespace, serviceName } from '../../shared/names.ts';
import { createLogGroup } from './log-group.ts';
import type { StageSettings } from '../settings.ts';

/**
 * Fields of the access log. None repeats what the client sent: API Gateway does not escape values, so that a quote in a
 * path or a `User-Agent` would break the line.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const fields = {
  requestId: '$context.requestId',
  // A client may choose the one above.
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  keyId: '$context.authorizer.keyId',
  method: '$context.httpMethod',
  resource: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  // Of the function that was called, if one was.
  functionRequestId: '$context.awsEndpointRequestId',
  // Of Lambda, not of the function: 200 if the function was called.
  integrationStatus: '$context.integrationStatus',
  latency: '$context.responseLatency',
  authorizerLatency: '$context.authorizer.latency',
  integrationLatency: '$context.integration.latency',
  responseLength: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
  firewall: '$context.waf.status',
  traceId: '$context.xrayTraceId',
};

/** Error responses of API Gateway itself, mocks and web ACL included; the type of a mock's is a dash. */
export const gatewayRefusalsMetric = { name: 'GatewayRefusals', dimensions: ['status', 'type'] };

/** The access log of a stage's API: a JSON line for each request, and a metric that is counted from the lines. */
export function accessLog(
  scope: Construct,
  stage: string,
  settings: StageSettings,
): Pick<StageOptions, 'accessLogDestination' | 'accessLogFormat'> {
  const logGroup = createLogGroup(scope, 'AccessLog', settings);
  // A missing value is logged as a dash.
  new MetricFilter(scope, 'GatewayRefusals', {
    logGroup,
    metricNamespace,
    metricValue: '1',
    filterPattern: FilterPattern.any(
      FilterPattern.stringValue('$.errorType', '!=', '-'),
      FilterPattern.all(
        FilterPattern.stringValue('$.functionRequestId', '=', '-'),
        FilterPattern.stringValue('$.status', '=', '4*'),
      ),
    ),
    metricName: gatewayRefusalsMetric.name,
    dimensions: { service: '$.service', status: '$.status', type: '$.errorType' },
  });
  return {
    accessLogDestination: new LogGroupLogDestination(logGroup),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify({ service: serviceName(stage), ...fields })),
  };
}
