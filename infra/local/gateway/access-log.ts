import { RunnerError } from '../runner-error.ts';

/** What the access log can say of a request; a value that there is none of is logged as a dash. */
const variables = [
  '$context.authorizer.keyId',
  '$context.authorizer.latency',
  '$context.awsEndpointRequestId',
  '$context.error.responseType',
  '$context.extendedRequestId',
  '$context.httpMethod',
  '$context.identity.sourceIp',
  '$context.integration.latency',
  '$context.requestId',
  '$context.requestTime',
  '$context.resourcePath',
  '$context.responseLatency',
  '$context.responseLength',
  '$context.status',
  // There are neither firewall nor traces here.
  '$context.waf.status',
  '$context.xrayTraceId',
] as const;

export type AccessLogValues = Partial<Record<(typeof variables)[number], string | number>>;

const VARIABLE = /\$(?:context|stageVariables|input)\.[\w.]+|\$\w+/g;

/**
 * Writes lines in the format of the template.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 *
 * @throws RunnerError naming a variable that is not modelled.
 */
export function accessLogWriter(format: string): (values: AccessLogValues) => string {
  for (const [variable] of format.matchAll(VARIABLE)) {
    if (!variables.includes(variable as (typeof variables)[number])) {
      throw new RunnerError(`The access log has the variable ${variable}, which is not modelled.`);
    }
  }
  return (values) =>
    format.replaceAll(VARIABLE, (variable) => String(values[variable as keyof AccessLogValues] ?? '-'));
}
