import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, jest, test } from '@jest/globals';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import { createHmac, hash } from 'node:crypto';
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { createClient, database } from '../../../shared/storage/database.ts';
import { sdkSettings } from '../../../shared/storage/sdk.ts';
import { INT64 } from '../../../shared/contract/limits.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { nextResponses, received, respondWith } from './fake-dynamodb.ts';

function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'items', Key: { id: 1n } }));
}

// The test makes 20 calls, because Node.js makes an object's properties fast only after repeated reads.
test('the client configuration, which the SDK copies in each call, has fast properties', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFast = runInThisContext('(object) => %HasFastProperties(object)');
  for (let call = 0; call < 20; call += 1) {
    nextResponses.push(respondWith(200, {}));
    await read();
  }
  expect(isFast(database.config)).toBe(true);
});

test('requests have the same host, target, content headers and body as requests of the unmodified SDK', async () => {
  const byDefault = DynamoDBDocumentClient.from(new DynamoDBClient());
  for (const client of [byDefault, database]) {
    nextResponses.push(respondWith(200, {}), respondWith(200, {}));
    await client.send(new GetCommand({ TableName: 'items', Key: { id: 1n }, ConsistentRead: true }));
    await client.send(
      new PutCommand({ TableName: 'items', Item: { ...INT64, tags: ['a', null], status: undefined } }),
    );
  }
  byDefault.destroy();
  const headers = ['host', 'content-type', 'content-length', 'x-amz-target'];
  const requests = received.map((request) => [request.body, headers.map((name) => request.headers[name])]);
  expect(requests.slice(2)).toEqual(requests.slice(0, 2));
  // The project's signer signs only these headers. The SDK's default signer also signs other headers.
  const signed = 'content-type;host;x-amz-date;x-amz-security-token;x-amz-target';
  expect(received.at(-1)?.headers.authorization).toContain(` SignedHeaders=${signed}, `);
});

test('the hash function for the SDK calculates SHA-256 hashes and HMACs', () => {
  const Hash = sdkSettings.sha256 as any;
  expect(new Hash().update('text').digest('hex')).toBe(hash('sha256', 'text'));
  const signature = createHmac('sha256', 'key').update('text').digest();
  expect(new Hash('key').update('text').digest()).toEqual(signature);
});

test('a call to an HTTPS endpoint starts with a TLS handshake', async () => {
  const firstBytes: number[] = [];
  const server = createServer().on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
    firstBytes.push(error.rawPacket![0]!);
    socket.destroy();
  });
  const { origin, close } = await listenOnLoopback(server);
  const AWS_ENDPOINT_URL_DYNAMODB = origin.replace('http:', 'https:');
  const replaced = jest.replaceProperty(process, 'env', { ...process.env, AWS_ENDPOINT_URL_DYNAMODB });
  const call = createClient().send(new GetItemCommand({ TableName: 'items', Key: { id: { N: '1' } } }));
  await expect(call.finally(close)).rejects.toThrow('The database returned no readable response');
  replaced.restore();
  // RFC 8446 section 5.1: a handshake record starts with the byte 22.
  expect(firstBytes).toEqual([22, 22, 22]);
});

test('successive calls use the same connection', async () => {
  nextResponses.push(respondWith(200, {}), respondWith(200, {}));
  await read();
  await read();
  expect(new Set(received.map(({ port }) => port)).size).toBe(1);
});

test('for each date and region, the signature is the same as the signature of the SDK', async () => {
  const sdk = new SignatureV4({
    service: 'dynamodb',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'none', secretAccessKey: 'none', sessionToken: 'none' },
    sha256: Sha256,
    applyChecksum: false,
  });
  const content = { method: 'POST', hostname: 'localhost', path: '/path', body: '{"TableName":"é"}' };
  const headers = { 'x-amz-target': 'DynamoDB_20120810.GetItem', host: 'localhost', 'content-type': 'a/b' };
  const optionsInOrder = [
    { signingDate: new Date('2026-01-01T23:59:59.999Z'), signingRegion: 'eu-west-1' },
    { signingDate: new Date('2026-01-02') },
    { signingDate: new Date('2026-01-02'), signingRegion: 'eu-west-1' },
    { signingDate: new Date('2026-01-01'), signingRegion: 'eu-west-1' },
  ];
  for (const options of optionsInOrder) {
    const expected = await sdk.sign(new HttpRequest({ ...content, headers }), options);
    // These headers are not signed, because proxies can change them.
    const unsigned = { 'content-length': '21', 'user-agent': 'any' };
    const request = new HttpRequest({ ...content, headers: { ...unsigned, ...headers } });
    const signed = await sdkSettings.signer.sign(request, options);
    expect(signed.headers).toEqual({ ...unsigned, ...expected.headers });
  }
});

test('numbers are read exactly over the full int64 range', async () => {
  const [minimum, maximum] = [INT64.minimum, INT64.maximum].map((number) => ({ N: number.toString() }));
  nextResponses.push(respondWith(200, { Item: { minimum, maximum } }));
  expect(await read()).toMatchObject({ Item: INT64 });
});
