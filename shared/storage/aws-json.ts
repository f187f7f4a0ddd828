import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { HttpRequest, type HttpResponse } from '@smithy/core/transport';

// Implements AWS JSON 1.0, DynamoDB's protocol, for items without binary values. The SDK's implementation is not
// used, because converting each value according to a schema took 10% of a cold start.
// https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html

const SERVICE = 'DynamoDB_20120810';
const OPENING_BRACE = 0x7b;

export function writeRequest(operation: string, input: object, endpoint: URL): HttpRequest {
  return new HttpRequest({
    method: 'POST',
    protocol: endpoint.protocol,
    hostname: endpoint.hostname,
    ...(endpoint.port && { port: Number(endpoint.port) }),
    path: endpoint.pathname,
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${SERVICE}.${operation}` },
    body: JSON.stringify(input),
  });
}

/**
 * Returns the output of an operation in the format of the SDK's `result.output`.
 *
 * @throws DynamoDBServiceException if DynamoDB returns an error, or Error if the body cannot be parsed.
 */
export function readResponse(response: HttpResponse, body: Buffer): any {
  if (body[0] !== OPENING_BRACE) throw new Error('The database response is not a JSON object.');
  const output = JSON.parse(body.toString());
  const { statusCode, headers } = response;
  const $metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid']! };
  if (statusCode < 300) return Object.assign(output, { $metadata });
  const { __type: type = 'Unknown', message, Message = message } = output;
  const error = new DynamoDBServiceException({
    name: type.replace(/.*#/, ''),
    message: Message,
    $fault: statusCode < 500 ? 'client' : 'server',
    $metadata,
  });
  // The SDK uses the date in `$response` to correct its clock. The property is not enumerable, so it is never logged.
  throw Object.defineProperty(error, '$response', { value: response });
}
