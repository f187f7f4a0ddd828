import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { HttpRequest, HttpResponse, parseUrl } from '@smithy/core/transport';
import { type BinaryLike, createHash, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';

// The only module that configures the SDK of the functions. All other modules use the SDK as documented, so the functions
// work without these settings, too, but more slowly (docs/decisions.md).

/** Timeout of an attempt. The time includes connecting and reading the complete response. */
const ATTEMPT_MILLISECONDS = 1_500;

const OPENING_BRACE = 0x7b;
const SIGNED = /^(?:content-type|host|x-amz-.*)$/;

/**
 * Implements AWS JSON 1.0, DynamoDB's protocol, for items without binary values. The SDK's implementation is not used,
 * because converting each value according to a schema took 10% of a cold start. The SDK calls only these methods.
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

const transports = {
  'http:': { request: http.request, agent: new http.Agent({ keepAlive: true }) },
  'https:': { request: https.request, agent: new https.Agent({ keepAlive: true }) },
};

/** Sends requests and reads responses. The SDK's implementation has no timeout for the body of a response. */
const requestHandler = {
  /** @throws Error that the SDK retries, if no complete JSON object is received in time */
  async handle(request: HttpRequest): Promise<{ response: HttpResponse }> {
    try {
      return { response: await exchange(request) };
    } catch (error) {
      // The code is kept, because it identifies connection errors.
      const { code } = error as NodeJS.ErrnoException;
      const message = `The database returned no readable response${code ? ` (${code})` : ''}.`;
      throw Object.assign(new Error(message, { cause: error }), { code, $retryable: {} });
    }
  },
};

async function exchange({ protocol: scheme, body, ...request }: HttpRequest): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { request: open, agent } = transports[scheme as keyof typeof transports];
  const chunks: Buffer[] = [];
  const sent = open({ ...request, agent } as RequestOptions, (response) => {
    response
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve(response))
      .on('error', reject);
  });
  sent.on('error', reject).end(body);
  const timer = setTimeout(() => {
    reject(new Error('The database response did not finish in time.'));
    sent.destroy();
  }, ATTEMPT_MILLISECONDS);
  const { statusCode = 0, headers } = await promise.finally(() => clearTimeout(timer));
  const bytes = Buffer.concat(chunks);
  if (bytes[0] !== OPENING_BRACE) throw new Error('The database response is not a JSON object.');
  return new HttpResponse({
    statusCode,
    headers: headers as Record<string, string>,
    body: JSON.parse(bytes.toString()),
  });
}

let environmentCredentials: ReturnType<ReturnType<typeof fromEnv>> | undefined;
/** Reads credentials from the environment once, because Lambda does not change them while an instance runs. */
const credentials = () => (environmentCredentials ??= fromEnv()());

let signingKey: { scope: string; key: KeyObject } | undefined;

/** Returns the key that signs all requests of a scope, which is a day. */
function signingKeyFor(scope: string, secretAccessKey: string): KeyObject {
  if (signingKey?.scope === scope) return signingKey.key;
  let key = createSecretKey(`AWS4${secretAccessKey}`, 'utf8');
  for (const part of scope.split('/')) key = createSecretKey(createHmac('sha256', key).update(part).digest());
  signingKey = { scope, key };
  return key;
}

/**
 * Signs requests to DynamoDB. The SDK's implementation supports any request and derives the key for each request, which
 * took a quarter of the CPU time of a list with 16 partitions.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
const signer = {
  async sign(
    request: HttpRequest,
    { signingDate, signingRegion = process.env['AWS_REGION'] }: { signingDate: Date; signingRegion?: string },
  ): Promise<HttpRequest> {
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
    const { method, path, headers, body } = request;
    const time = signingDate.toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const scope = `${time.slice(0, 8)}/${signingRegion}/dynamodb/aws4_request`;
    headers['x-amz-date'] = time;
    if (sessionToken) headers['x-amz-security-token'] = sessionToken;
    const signed = Object.keys(headers)
      .filter((name) => SIGNED.test(name))
      .toSorted();
    const canonicalRequest = [
      method,
      path,
      '',
      ...signed.map((name) => `${name}:${headers[name]}`),
      '',
      signed.join(';'),
      hash('sha256', body),
    ];
    const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonicalRequest.join('\n'))].join('\n');
    const signature = createHmac('sha256', signingKeyFor(scope, secretAccessKey)).update(text).digest('hex');
    headers['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed.join(';')}, Signature=${signature}`;
    return request;
  },
};

/** Returns a SHA-256 hash, or an HMAC if there is a secret. The SDK calls this function with `new`. */
function sha256(secret?: BinaryLike) {
  return secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
}

/** Settings that differ from the SDK's defaults. In bundles, they replace the defaults (`infra/stack/bundling.ts`). */
export const sdkSettings = {
  maxAttempts: 3,
  protocol,
  // The default contains codecs, which this protocol does not use.
  protocolSettings: {},
  requestHandler,
  credentialDefaultProvider: () => credentials,
  signer,
  // With this setting, the SDK's own hash functions are not bundled.
  sha256,
  // All queries of a list use the same chain of middleware.
  cacheMiddleware: true,
  // The SDK spends time on describing its version and features in each request.
  defaultUserAgentProvider: async () => [],
};
