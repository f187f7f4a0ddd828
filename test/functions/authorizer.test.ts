import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda';
import { hash } from 'node:crypto';
import { handler } from '../../functions/authorizer.ts';
import { generateApiKey } from '../../shared/api-keys.ts';
import { logLines, written } from '../support/log-lines.ts';
import { inputs, mock, setEnvironment } from '../support/mocked-database.ts';

const API = 'arn:aws:execute-api:eu-central-1:123456789012:abc123';
const record = { keyId: 'key_0123456789abcdef', owner: 'Acme', createdAt: '2026-01-01T00:00:00.000Z' };

setEnvironment({ STAGE: 'staging', API_KEYS_TABLE: 'keys' });

async function authorize(
  authorizationToken: string,
  methodArn = `${API}/staging/GET/v1/books/42`,
): Promise<APIGatewayAuthorizerResult | undefined> {
  return handler({ type: 'TOKEN', authorizationToken, methodArn });
}

function policy(Effect: 'Allow' | 'Deny'): APIGatewayAuthorizerResult['policyDocument'] {
  return {
    Version: '2012-10-17',
    Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: `${API}/staging/*/*` }],
  };
}

const denied = { principalId: 'nobody', policyDocument: policy('Deny') };

describe('the authorizer', () => {
  test('allows an active key on all routes of the stage and returns the key id', async () => {
    mock.on(GetCommand).resolves({ Item: record });
    const key = generateApiKey('staging');
    const token = `Bearer ${key}`;
    const allowed = {
      principalId: record.keyId,
      policyDocument: policy('Allow'),
      context: { keyId: record.keyId, firstKeyId: record.keyId, canWrite: 'true' },
    };
    expect(await authorize(token, `${API}/staging/GET/v1/books/42`)).toStrictEqual(allowed);
    expect(await authorize(token, `${API}/staging/POST/v1/books`)).toStrictEqual(allowed);
    expect(await authorize(token, `${API}/staging/GET/v1/books/a\nb`)).toStrictEqual(allowed);
    const read = { TableName: 'keys', Key: { hash: hash('sha256', key) }, ConsistentRead: true };
    expect(inputs()).toEqual([read, read, read]);
    expect(written()).toBe('');
  });

  test("returns the ids of a rotated key's successor and of the first key", async () => {
    const { keyId } = record;
    mock.on(GetCommand).resolves({ Item: { ...record, replaces: 'key_2', firstKeyId: 'key_1' } });
    expect(await authorize(`Bearer ${generateApiKey('staging')}`)).toStrictEqual({
      principalId: keyId,
      policyDocument: policy('Allow'),
      context: { keyId, firstKeyId: 'key_1', canWrite: 'true' },
    });
  });

  test('does not return that a key can write if it can only read', async () => {
    mock.on(GetCommand).resolves({ Item: { ...record, readOnly: true } });
    expect(await authorize(`Bearer ${generateApiKey('staging')}`)).toStrictEqual({
      principalId: record.keyId,
      policyDocument: policy('Allow'),
      context: { keyId: record.keyId, firstKeyId: record.keyId },
    });
  });

  test.each([null, {}, { source: 'aws.events' }])(
    'only logs that the event %j is no request',
    async (event) => {
      expect(await handler(event as APIGatewayTokenAuthorizerEvent)).toBeUndefined();
      expect(logLines()).toMatchObject([
        { level: 'WARN', message: expect.stringContaining('not a request') },
      ]);
      expect(inputs()).toEqual([]);
    },
  );

  test('denies an unknown key without a function error', async () => {
    mock.on(GetCommand).resolves({});
    expect(await authorize(`Bearer ${generateApiKey('staging')}`)).toStrictEqual(denied);
    expect(written()).toBe('');
  });

  test.each([
    ['expired', { expiresAt: '2026-01-02T00:00:00.000Z' }],
    ['revoked', { revokedAt: '2026-01-02T00:00:00.000Z' }],
  ])(
    'denies a key that is %s, and returns its id and the reason for the access log',
    async (reason, times) => {
      mock.on(GetCommand).resolves({ Item: { ...record, firstKeyId: 'key_1', ...times } });
      expect(await authorize(`Bearer ${generateApiKey('staging')}`)).toStrictEqual({
        principalId: record.keyId,
        policyDocument: policy('Deny'),
        context: { keyId: record.keyId, reason },
      });
    },
  );

  test.each<[string, (key: string) => string]>([
    ['no key', () => 'Bearer '],
    ['no space after the scheme', (key) => `Bearer${key}`],
    ['text before the scheme', (key) => `X Bearer ${key}`],
    ['text after the key', (key) => `Bearer ${key} x`],
    ['a line break after the key', (key) => `Bearer ${key}\n`],
    ['an additional character in the key', (key) => `Bearer ${key}0`],
    ['a misspelled key', (key) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['a key for a different stage', () => `Bearer ${generateApiKey('production')}`],
  ])('denies a header with %s without reading the table', async (_what, header) => {
    mock.on(GetCommand).resolves({ Item: record });
    expect(await authorize(header(generateApiKey('staging')))).toStrictEqual(denied);
    expect(inputs()).toEqual([]);
  });

  test('throws the database error if the table cannot be read', async () => {
    const error = new Error('?');
    mock.on(GetCommand).rejects(error);
    await expect(authorize(`Bearer ${generateApiKey('staging')}`)).rejects.toBe(error);
  });

  test.each(['STAGE', 'API_KEYS_TABLE'])('throws an error if %s is not set', async (name) => {
    delete process.env[name];
    await expect(authorize(`Bearer ${generateApiKey('staging')}`)).rejects.toThrow(name);
  });
});
