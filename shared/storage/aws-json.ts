import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { HttpRequest, type HttpResponse } from '@smithy/core/transport';

// AWS JSON 1.0, the protocol of DynamoDB, for items without binary values. Requests and responses are what the SDK works
// with already. Its own implementation converts each value by a schema, which took a tenth of a cold start.
// https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html

const SERVICE = 'DynamoDB_20120810';
const OPENING_BRACE = 0x7b;

/** @param operation for example `GetItem` */
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
 * The output of an operation, as `result.output` of the SDK.
 *
 * @throws DynamoDBServiceException by the name that DynamoDB gives its error, or Error if the body cannot be read.
 */
export function readResponse(response: HttpResponse, body: Buffer): any {
  if (body[0] !== OPENING_BRACE) throw new Error('The response of the database is no JSON object.');
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
  // The SDK corrects its clock by the date of the response. Whoever logs all members must not find it.
  throw Object.defineProperty(error, '$response', { value: response });
}
