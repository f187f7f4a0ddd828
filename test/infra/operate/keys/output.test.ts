import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { confirm, warnOfBegunRotations } from '../../../../infra/operate/keys/output.ts';
import type { ApiKeyRecord } from '../../../../shared/storage/api-keys.ts';

let say: jest.Spied<typeof console.error>;
beforeEach(() => {
  say = jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a question at a terminal', () => {
  test.each([
    ['y and Enter', 'y\r', true],
    ['n and Enter', 'n\r', false],
    ['anything but yes', 'yikes\r', false],
    ['Ctrl-C', '\u0003', false],
    ['Ctrl-C behind a yes', 'y\u0003', false],
    ['Ctrl-D', '\u0004', false],
  ])('is answered by %s', async (_what, typed, answer) => {
    const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
    jest.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
    jest.spyOn(process, 'stderr', 'get').mockReturnValue(output as unknown as typeof process.stderr);
    const answered = confirm('Revoke it?');
    input.write(typed);
    expect(await answered).toBe(answer);
    expect(String(output.read())).toContain('Revoke it? [y/N] ');
  });
});

function record(keyId: string, others: Partial<ApiKeyRecord>): ApiKeyRecord {
  return { hash: '', keyId, owner: 'Acme', start: '', createdAt: '', ...others };
}

describe('a rotation that was begun', () => {
  const successor = { keyId: 'key_2', hash: '' };
  const rotatedBy = { time: '', caller: '', action: 'rotate', keyId: 'key_1' } as const;

  test.each([
    [
      'says how to complete it, while the key works',
      { successor },
      {},
      [
        'The rotation of key_1 is not complete: rotate it again, with the same options, or with --complete if somebody has key_2.',
      ],
    ],
    [
      'says what is left of it, when the key does not',
      { successor, revokedAt: '' },
      {},
      ['The rotation of key_1 was never complete: revoke key_2 if nobody has it.'],
    ],
    ['is over when neither key works', { successor, revokedAt: '' }, { revokedAt: '' }, []],
    ['is over when it was completed', { successor, rotatedBy }, {}, []],
  ])('%s', (_what, one: Partial<ApiKeyRecord>, other: Partial<ApiKeyRecord>, said: string[]) => {
    warnOfBegunRotations([record('key_2', other), record('key_1', one)]);
    expect(say.mock.calls.flat()).toEqual(said);
  });
});
