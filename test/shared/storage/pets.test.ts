import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { createPet, getPet } from '../../../shared/storage/pets.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { errorResponse } from '../../support/operations.ts';
import { conditionFailed, mock, setEnvironment } from '../../support/mocked-database.ts';

// What becomes of a create that ends early or meets a fault is in test/reliability.

const rex = { name: 'Rex', categoryId: -(2n ** 63n) };

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '4' });

/** Draws these identifiers one after another; undefined behind the last. */
function idsInOrder(...ids: bigint[]): () => bigint {
  return () => ids.shift() as bigint;
}

function written(): Record<string, unknown>[] {
  return mock.commandCalls(PutCommand).map(({ args }) => args[0].input.Item ?? {});
}

describe('creating a pet', () => {
  test.each([
    ['all', rex, { partition: '2' }],
    ['its status too', { ...rex, status: 'sold' as const }, { partition: '2', statusPartition: 'sold#2' }],
  ])('writes it once, if its id is free, into the list of %s', async (_which, newPet, keys) => {
    mock.on(PutCommand).resolves({});
    const pet = { id: 42n, ...newPet };
    expect(await createPet(newPet, idsInOrder(42n))).toEqual(pet);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
    expect(mock.calls().map(({ args }) => args[0].input)).toEqual([
      {
        TableName: 'pets',
        Item: { ...pet, ...keys, creation: expect.stringMatching(/^\S{20,}$/) },
        ConditionExpression: 'attribute_not_exists(id)',
      },
    ]);
  });

  test('does not draw another id when nobody can tell whose the taken one is', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    await expect(createPet(rex, idsInOrder(42n, 43n))).rejects.toEqual(errorResponse('service_unavailable'));
    expect(written()).toHaveLength(1);
  });

  test('gives up when every id that it draws is taken, and says that it may be tried again', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({ Item: { creation: 'of another call' } });
    let id = 0n;
    const creating = createPet(rex, () => (id += 1n));
    await expect(creating).rejects.toEqual(errorResponse('service_unavailable', 'No identifier'));
    expect(written().map((item) => item['id'])).toEqual(
      Array.from({ length: 20 }, (_, index) => BigInt(index + 1)),
    );
  });
});

test('reading a pet gives the last acknowledged write, and nothing of its storage', async () => {
  const item = { id: 42n, ...rex, creation: 'of a call', partition: '0' };
  mock
    .on(GetCommand)
    .resolvesOnce({ Item: item })
    .resolvesOnce({ Item: { ...item, status: 'sold', statusPartition: 'sold#0' } });
  expect(await getPet(42n)).toStrictEqual({ id: 42n, ...rex });
  expect(await getPet(42n)).toStrictEqual({ id: 42n, ...rex, status: 'sold' });
  expect(mock.calls()[0]?.args[0].input).toEqual({
    TableName: 'pets',
    Key: { id: 42n },
    ConsistentRead: true,
  });
});
