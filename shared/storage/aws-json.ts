import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { HttpRequest, HttpResponse } from '@smithy/core/transport';

const SERVICE = 'DynamoDB_20120810';
const OPENING_BRACE = 0x7b;

/**
 * The protocol AWS JSON 1.0 as DynamoDB speaks it, for items without binary values. It passes requests and responses on
 * as they are, where the SDK's own protocol converts each value by a schema: that took a tenth of a cold start.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
export const awsJson = {
  getShapeId: () => 'aws.protocols#awsJson1_0',
  getRequestType: () => HttpRequest,
  getResponseType: () => HttpResponse,
  getPayloadCodec: () => undefined as never,
  setSerdeContext: () => {},
  updateServiceEndpoint: (request: HttpRequest) => request,
  serializeRequest,
  deserializeResponse,
};

async function serializeRequest(
  { name }: { name: string },
  input: object,
  { endpoint }: { endpoint: () => Promise<Pick<HttpRequest, 'protocol' | 'hostname' | 'port' | 'path'>> },
): Promise<HttpRequest> {
  return new HttpRequest({
    ...(await endpoint()),
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${SERVICE}.${name}` },
    body: JSON.stringify(input),
  });
}

/**
 * @param response with its whole body
 * @throws DynamoDBServiceException by the name that DynamoDB gives its error, or Error if the body cannot be read.
 */
async function deserializeResponse(
  _operation: unknown,
  _context: unknown,
  { statusCode, headers, body }: HttpResponse,
): Promise<any> {
  const bytes = body as Buffer;
  if (bytes[0] !== OPENING_BRACE) throw new Error('The response of the database is no JSON object.');
  const output = JSON.parse(bytes.toString());
  const $metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid']! };
  if (statusCode < 300) return { ...output, $metadata };
  const { __type: type = 'Unknown', message, Message = message } = output;
  throw new DynamoDBServiceException({
    name: type.replace(/.*#/, ''),
    message: Message,
    $fault: statusCode < 500 ? 'client' : 'server',
    $metadata,
  });
}
