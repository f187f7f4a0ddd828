const VARIABLE = /\$(?:context|stageVariables|input)\.[\w.]+|\$\w+/g;

/** The values of a request, by variable: `$context.status`. */
export type AccessLogValues = Record<string, string | number>;

/**
 * A line of the access log. Like API Gateway, it has a dash for each variable without a value.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 *
 * @param format of the line, from the template.
 */
export function accessLogLine(format: string, values: AccessLogValues): string {
  return format.replaceAll(VARIABLE, (variable) => String(values[variable] ?? '-'));
}
