import { type DynamoDBClientConfig, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { HttpRequest, HttpResponse, parseUrl } from '@smithy/core/transport';
import { type BinaryLike, createHash, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';

// Removable SDK settings that make the functions faster (docs/decisions.md, "SDK settings and bundling plugins").

/** Timeout of an attempt. The time includes connecting and reading the complete response. */
export const ATTEMPT_MILLISECONDS = 1_500;

const OPENING_BRACE = 0x7b;
const SIGNED = /^(?:content-type|host|x-amz-.*)$/;

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
   * Returns the output of an operation.
   *
   * @throws DynamoDBServiceException if DynamoDB returns an error.
   * @throws Error that the SDK retries, if the response is not a JSON object.
   */
  async deserializeResponse(_operation: unknown, _context: unknown, response: HttpResponse): Promise<any> {
    const { statusCode, headers, body } = response;
    const $metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid']! };
    const bytes = body instanceof Uint8Array ? body : Buffer.concat(await Array.fromAsync(body));
    let output;
    try {
      if (bytes[0] !== OPENING_BRACE) throw new Error('The database response is not a JSON object.');
      output = JSON.parse(bytes.toString());
    } catch (error) {
      throw Object.assign(unreadable(error), { $metadata });
    }
    if (statusCode === 200) return Object.assign(output, { $metadata });
    const { __type: type = 'Unknown', message, Message = message } = output;
    throw new DynamoDBServiceException({
      name: type.replace(/.*#/, ''),
      message: Message,
      $fault: statusCode < 500 ? 'client' : 'server',
      $metadata,
    });
  },
};

/** Returns an error that makes the SDK retry. The error has the cause's code, which identifies connection errors. */
function unreadable(cause: unknown): Error {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `The database returned no readable response${code ? ` (${code})` : ''}.`;
  return Object.assign(new Error(message, { cause }), { code, $retryable: {} });
}

const connections = { keepAlive: true, maxSockets: 50 }; // as in the SDK
const transports = {
  'http:': { request: http.request, agent: new http.Agent(connections) },
  'https:': { request: https.request, agent: new https.Agent(connections) },
};

/** Sends requests and limits the time until a response is complete. The SDK's handler does not limit this time. */
const requestHandler = {
  /** @throws Error that the SDK retries, if no complete response is received in time */
  async handle({ protocol: scheme, body, ...request }: HttpRequest): Promise<{ response: HttpResponse }> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request: open, agent } = transports[scheme as keyof typeof transports];
    const chunks: Buffer[] = [];
    const sent = open({ ...request, agent } as RequestOptions, (response) => {
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => resolve(response));
    });
    sent.on('error', reject).end(body);
    const timer = setTimeout(() => {
      reject(new Error('The database response did not finish in time.'));
      sent.destroy();
    }, ATTEMPT_MILLISECONDS);
    const result = promise.finally(() => clearTimeout(timer));
    const { statusCode = 0, headers } = await result.catch((error) => Promise.reject(unreadable(error)));
    const response = { statusCode, headers: headers as Record<string, string>, body: Buffer.concat(chunks) };
    return { response: new HttpResponse(response) };
  },
};

let environmentCredentials: Awaited<ReturnType<ReturnType<typeof fromEnv>>> | undefined;
/** Reads credentials from the environment once, because Lambda does not change them while an instance runs. */
const credentials = async () => (environmentCredentials ??= await fromEnv()());

let signingKey: { scope: string; key: KeyObject } | undefined;

/** Returns the signing key of a scope. The scope contains the date, so the cached key changes daily. */
function signingKeyFor(scope: string, secretAccessKey: string): KeyObject {
  if (signingKey?.scope === scope) return signingKey.key;
  let key = createSecretKey(`AWS4${secretAccessKey}`, 'utf8');
  for (const part of scope.split('/')) key = createSecretKey(createHmac('sha256', key).update(part).digest());
  signingKey = { scope, key };
  return key;
}

/**
 * Signs requests to DynamoDB. The SDK's implementation creates a signer for each request and hashes the credentials each
 * time, which takes CPU time.
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

/** Returns a SHA-256 hash object, or an HMAC object if there is a secret. The SDK calls this function with `new`. */
function sha256(secret?: BinaryLike) {
  return secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
}

/** Settings that differ from the SDK's defaults. In bundles, they replace the defaults (`infra/stack/bundling.ts`). */
export const sdkSettings = {
  protocol,
  // The SDK's default contains codecs, which only its own protocol uses. Remove this setting together with `protocol`.
  protocolSettings: {},
  requestHandler,
  credentialDefaultProvider: () => credentials,
  signer,
  // With `sha256` and `defaultUserAgentProvider`, the SDK's hash functions and user agent (7 kB) are not bundled.
  sha256,
  defaultUserAgentProvider: async () => [],
  // Otherwise, the SDK would build its middleware chain again for each query of a list.
  cacheMiddleware: true,
} satisfies Partial<Record<keyof DynamoDBClientConfig, unknown>>;
