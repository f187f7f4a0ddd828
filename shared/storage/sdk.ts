import { DynamoDBServiceException, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { HttpRequest, type HttpResponse, parseUrl } from '@smithy/core/transport';

// The only purpose of these settings of the SDK is to make the functions faster. docs/decisions.md, "SDK settings and
// bundling plugins", describes how to remove them.

/**
 * Implements AWS JSON 1.0, DynamoDB's protocol, for items without binary values. The SDK's implementation converts each
 * value according to a schema, which takes CPU time. The object has only the methods that the SDK calls.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
const protocol = {
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
   * Returns the output of an operation. The body is complete, because `completeResponses` has read it.
   *
   * @throws DynamoDBServiceException if DynamoDB returns an error.
   */
  async deserializeResponse(_operation: unknown, _context: unknown, response: HttpResponse): Promise<any> {
    const { statusCode, headers, body } = response;
    const $metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid']! };
    const output = JSON.parse(body.toString());
    if (statusCode === 200) return Object.assign(output, { $metadata });

    const { __type: type = 'Unknown', message, Message = message } = output;
    const name = type.slice(type.lastIndexOf('#') + 1);
    const error = new DynamoDBServiceException({
      name,
      message: Message,
      $fault: statusCode < 500 ? 'client' : 'server',
      $metadata,
    });
    // DynamoDB's model marks this error as retryable. The SDK recognizes all other retryable errors by name or status.
    if (name === 'ReplicatedWriteConflictException') error.$retryable = {};
    throw error;
  },
};

let environmentCredentials: Awaited<ReturnType<ReturnType<typeof fromEnv>>> | undefined;
/** Reads credentials from the environment once, because Lambda does not change them while an instance runs. */
const credentials = async () => (environmentCredentials ??= await fromEnv()());

/** Settings that differ from the SDK's defaults. In bundles, they replace the defaults (`infra/stack/plugins.ts`). */
export const sdkSettings: object = {
  protocol,
  // The SDK's default contains codecs, which only its own protocol uses. Remove this setting together with `protocol`.
  protocolSettings: {},
  credentialDefaultProvider: () => credentials,
} satisfies Partial<Record<keyof DynamoDBClientConfig, unknown>>;
