import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { metricNamespace, serviceName } from '../../shared/names.ts';
import { addLogGroup } from './stage-stack.ts';
import type { Stage } from '../settings.ts';

/**
 * Fields of the access log. Request paths, query strings and headers are omitted, because API Gateway does not escape
 * values, so a quote in a path or a `User-Agent` would make the line invalid JSON.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const fields = {
  requestId: '$context.requestId',
  // Clients can choose requestId, so only extendedRequestId is certain to be unique.
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  // The authorizer sets this value for each API key with a record. The log therefore also shows whose key was denied
  // because it is expired or revoked.
  keyId: '$context.authorizer.keyId',
  denialReason: '$context.authorizer.reason',
  // This is the host that the client really uses, because API Gateway selects the API by this name.
  domainName: '$context.domainName',
  tlsVersion: '$context.tlsVersion',
  cipherSuite: '$context.cipherSuite',
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
};

/** Counts error responses of API Gateway, its mock integrations and the web ACL. For mocks, `type` is a dash. */
export const gatewayErrorsMetric = { name: 'GatewayErrorResponses', dimensions: ['status', 'type'] };

/**
 * Counts 5xx responses of a stage without a blocking firewall, except 5xx responses that clients cause with large bodies.
 * Lambda rejects bodies above 6,291,456 bytes with a 413, which API Gateway can turn into a 5xx.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const serverErrorsMetric = { name: 'ServerErrors', dimensions: [] };

/** Counts requests with active API keys. */
export const activeKeyRequestsMetric = { name: 'ActiveKeyRequests', dimensions: [] };

/**
 * Counts the 4xx responses with which operations' functions reject requests with active API keys. 404 is not counted,
 * because asking for an item that does not exist is normal.
 */
export const rejectedRequestsMetric = { name: 'RejectedRequests', dimensions: [] };

/**
 * Adds an access log with one JSON line per request, and metric filters that count requests and error responses in it.
 * Returns the log group and the options with which the API's stage writes to it.
 */
export function addAccessLog(scope: Construct, stage: Stage) {
  const logGroup = addLogGroup(scope, 'AccessLog', stage);
  const pattern = logs.FilterPattern;
  const count = (metricName: string, filterPattern: logs.IFilterPattern, dimensions = {}) =>
    new logs.MetricFilter(scope, metricName, {
      logGroup,
      filterPattern,
      metricNamespace,
      metricName,
      metricValue: '1',
      dimensions: { service: '$.service', ...dimensions },
    });
  // API Gateway logs a dash for a missing value.
  const isGatewayError = pattern.stringValue('$.errorType', '!=', '-');
  const is4xx = pattern.stringValue('$.status', '=', '4*');
  const isServerError = [
    pattern.stringValue('$.status', '=', '5*'),
    pattern.stringValue('$.integrationStatus', '!=', '413'),
  ];
  const isMock = pattern.all(pattern.stringValue('$.functionRequestId', '=', '-'), is4xx);
  const isActiveKey = [
    pattern.stringValue('$.keyId', '!=', '-'),
    // Expired and revoked keys have an id too, but API Gateway denies their requests.
    pattern.stringValue('$.errorType', '!=', 'ACCESS_DENIED'),
  ];
  count(activeKeyRequestsMetric.name, pattern.all(...isActiveKey));
  const isOfFunction = pattern.stringValue('$.functionRequestId', '!=', '-');
  const isNot404 = pattern.stringValue('$.status', '!=', '404');
  count(rejectedRequestsMetric.name, pattern.all(...isActiveKey, isOfFunction, is4xx, isNot404));
  const dimensions = { status: '$.status', type: '$.errorType' };
  count(gatewayErrorsMetric.name, pattern.any(isGatewayError, isMock), dimensions);
  if (stage.firewall?.action !== 'block') count(serverErrorsMetric.name, pattern.all(...isServerError));
  const format = JSON.stringify({ service: serviceName(stage.name), ...fields });
  return {
    logGroup,
    options: {
      accessLogDestination: new apigateway.LogGroupLogDestination(logGroup),
      accessLogFormat: apigateway.AccessLogFormat.custom(format),
    },
  };
}
