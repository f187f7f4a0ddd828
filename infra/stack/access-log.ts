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
export const gatewayErrorResponsesMetric = { name: 'GatewayErrorResponses', dimensions: ['status', 'type'] };

/**
 * 5xx responses that are not the client's fault, in stages whose firewall does not end large bodies. Lambda rejects
 * requests of more than 6,291,456 bytes with a 413, and API Gateway, which accepts 10 MB, may turn that into a 5xx.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const serverErrorsMetric = { name: 'ServerErrors' };

/** The access log of a stage's API: a JSON line for each request, and metrics that are counted from the lines. */
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
