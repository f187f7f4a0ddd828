import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { claimId, type Intent, intentOf } from '../../../shared/storage/idempotency.ts';
import { signal } from '../../support/invoke.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

const NOW_SECONDS = 1_790_000_000;
const sha256 = expect.stringMatching(/^[\da-f]{64}$/);

setEnvironment({ IDEMPOTENCY_TABLE: 'records' });

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW_SECONDS * 1_000 + 999);
});

function intent(operation: string, firstKeyId: string, idempotencyKey: string, body = '{}'): Intent {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return intentOf(operation, { headers, firstKeyId, rawBody: Buffer.from(body) })!;
}

describe('the intent of a request', () => {
  test('has another token for another operation, API key or Idempotency-Key, even if the concatenations are equal', () => {
    const intents = [
      intent('a', 'b', 'c,d'),
      intent('a', 'b,c', 'd'),
      intent('a,b', 'c', 'd'),
      intent('ab', 'c', 'd'),
      intent('a', 'bc', 'd'),
      intent('a', 'bc', 'D'),
    ];
    const tokens = intents.map(({ token }) => token);
    expect(tokens).toEqual(intents.map(() => sha256));
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  // Records outlive a deployment. If a later version calculated other values, a retry after its deployment would store a
  // duplicate or get a 422.
  test('never changes', () => {
    expect(intent('createBook', 'key_1', 'a-key', '{"title":"Emma"}')).toEqual({
      token: '7a612e7e12b2c6dd8609b7d8f9ae7ff52c6de13081147c991f0d02a63b2627b4',
      fingerprint: '649fdfeba3739c2ebacedce40f7121bddaaff80baa9ed8224db3d67835b55740',
    });
  });

  test('has another fingerprint if one byte of the body differs', () => {
    const [one, other] = ['{"title":"Emma"}', '{"title": "Emma"}'].map((body) => intent('a', 'b', 'c', body));
    expect(one!.token).toBe(other!.token);
    expect(one!.fingerprint).not.toBe(other!.fingerprint);
  });

  test('is undefined if the request has no Idempotency-Key', () => {
    const request = { headers: {}, firstKeyId: undefined, rawBody: Buffer.from('{}') };
    expect(intentOf('createBook', request)).toBeUndefined();
  });
});

describe('an idempotency record', () => {
  const first = intent('createBook', 'key_1', 'a-key');

  test('is stored for 24 hours and 15 minutes', async () => {
    mock.on(PutCommand).resolves({});
    expect(await claimId(first, 42n, signal)).toBe(42n);
    expect(inputs()).toStrictEqual([
      {
        TableName: 'records',
        Item: { ...first, itemId: 42n, expiresAt: NOW_SECONDS + 87_300 },
        ConditionExpression: 'attribute_not_exists(itemId) OR expiresAt < :now OR itemId = :taken',
        ExpressionAttributeValues: { ':now': NOW_SECONDS, ':taken': 0n },
      },
    ]);
  });

  test('returns its id to a request with the same body, and rejects another body', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({ Item: { ...first, itemId: 42n } });
    expect(await claimId(first, 43n, signal)).toBe(42n);
    const other = intent('createBook', 'key_1', 'a-key', '{ }');
    await expect(claimId(other, 43n, signal)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('causes an UnavailableError if it is deleted after the failed condition check', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    await expect(claimId(first, 43n, signal)).rejects.toMatchObject({ name: 'UnavailableError' });
  });
});
