// These are not named imports, because named imports would make Node load further modules, such as its fetch client.
const { createHash, createHmac } = process.getBuiltinModule('node:crypto');
const { Agent, request } = process.getBuiltinModule('node:https');

const {
  AWS_ACCESS_KEY_ID = '',
  AWS_ENDPOINT_URL_DYNAMODB = '',
  AWS_REGION = '',
  AWS_SECRET_ACCESS_KEY = '',
  AWS_SESSION_TOKEN = '',
} = process.env;
const { host } = new URL(AWS_ENDPOINT_URL_DYNAMODB);
const agent = new Agent({ keepAlive: true });

const fields = ['id', 'name', 'categoryId', 'status'];
const query = JSON.stringify({
  TableName: 'Items',
  IndexName: 'newest',
  KeyConditionExpression: '#key = :key',
  ProjectionExpression: fields.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: {
    '#key': 'list',
    ...Object.fromEntries(fields.map((name) => [`#${name}`, name])),
  },
  ExpressionAttributeValues: { ':key': { S: 'all' } },
  ScanIndexForward: false,
  Limit: 20,
});

/** Lists a page of items without the SDK, validation, retries or timeouts. */
export async function handler(): Promise<object> {
  const { Items } = JSON.parse(await send('Query', query));
  const items = Items.map((item: Record<string, { S?: string; N?: string }>) =>
    Object.fromEntries(Object.entries(item).map(([name, { S, N }]) => [name, S ?? Number(N)])),
  );
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(items) };
}

/** Sends a request to DynamoDB and returns the body of the response. */
function send(action: string, body: string): Promise<string> {
  const headers = signedHeaders(body, {
    'content-type': 'application/x-amz-json-1.0',
    host,
    'x-amz-date': new Date().toISOString().replaceAll(/[-:]|\.\d+/g, ''),
    'x-amz-security-token': AWS_SESSION_TOKEN,
    'x-amz-target': `DynamoDB_20120810.${action}`,
  });
  return new Promise((resolve, reject) => {
    request(AWS_ENDPOINT_URL_DYNAMODB, { agent, method: 'POST', headers }, async (response) => {
      resolve(Buffer.concat(await response.toArray()).toString());
    })
      .on('error', reject)
      .end(body);
  });
}

/**
 * Adds a signature of version 4 to the headers, whose names must be in lower case and sorted.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function signedHeaders(body: string, headers: Record<string, string>): Record<string, string> {
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonicalRequest = `POST\n/\n\n${lines.join('')}\n${names}\n${sha256(body)}`;

  const time = headers['x-amz-date']!;
  const scope = [time.slice(0, 8), AWS_REGION, 'dynamodb', 'aws4_request'];
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope.join('/')}\n${sha256(canonicalRequest)}`;
  const signature = hmac(scope.reduce<string | Buffer>(hmac, `AWS4${AWS_SECRET_ACCESS_KEY}`), text);
  const credential = `${AWS_ACCESS_KEY_ID}/${scope.join('/')}`;
  return {
    ...headers,
    'content-length': `${Buffer.byteLength(body)}`,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature.toString('hex')}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

for (const _ of JSON.parse(process.env['PRIMING_EVENTS'] ?? '[]')) await handler();
