import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { HttpRequest, type HttpResponse, parseUrl } from '@smithy/core/transport';

/**
 * Implements AWS JSON 1.0, DynamoDB's protocol, for items without binary values. The SDK's implementation is not used,
 * because converting each value according to a schema took 10% of a cold start. The SDK calls only these methods.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
export const awsJson = {
  setSerdeContext(): void {},

  async serializeRequest(
    operation: { name: string },
    input: object,
    context: { endpointV2?: { url: URL } },
  ): Promise<HttpRequest> {
    return new HttpRequest({
      method: 'POST',
      ...parseUrl(context.endpointV2!.url),
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation.name}`,
      },
      body: JSON.stringify(input),
    });
  },

  /**
   * Returns the output of an operation.
   *
   * @param response response whose body is a parsed JSON object
   * @throws DynamoDBServiceException if DynamoDB returns an error.
   */
  async deserializeResponse(_operation: unknown, _context: unknown, response: HttpResponse): Promise<any> {
    const { statusCode, headers, body } = response;
    const $metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid']! };
    if (statusCode === 200) return Object.assign(body, { $metadata });
    const { __type: type = 'Unknown', message, Message = message } = body;
    throw new DynamoDBServiceException({
      name: type.replace(/.*#/, ''),
      message: Message,
      $fault: statusCode < 500 ? 'client' : 'server',
      $metadata,
    });
  },
};
