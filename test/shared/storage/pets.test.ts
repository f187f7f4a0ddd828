import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { createPet, getPet } from '../../../shared/storage/pets.ts';
import { setEnvironment } from '../../support/environment.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { mock } from '../../support/mocked-database.ts';
import { refused } from '../../support/refusals.ts';

const rex = { name: 'Rex', categoryId: -(2n ** 63n) };
const taken = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});
const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });

/** Draws these identifiers one after another; undefined behind the last. */
function draws(...ids: bigint[]): () => bigint {
  return () => ids.shift() as bigint;
}

function written(): Record<string, unknown>[] {
  return mock.commandCalls(PutCommand).map(({ args }) => args[0].input.Item ?? {});
}

describe('creating a pet', () => {
  test('writes it once, if its id is free', async () => {
    mock.on(PutCommand).resolves({});
    expect(await createPet(rex, draws(42n))).toEqual({ id: 42n, ...rex });
    expect(mock.calls().map(({ args }) => args[0].input)).toEqual([
      {
        TableName: 'pets',
        Item: { id: 42n, ...rex, partition: '0', creation: expect.stringMatching(/^\S{20,}$/) },
        ConditionExpression: 'attribute_not_exists(id)',
      },
    ]);
  });

  test('with a status writes it into the list of that status too', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    mock.on(PutCommand).resolves({});
    const pet = { ...rex, status: 'sold' as const };
    expect(await createPet(pet, draws(42n))).toEqual({ id: 42n, ...pet });
    expect(written()).toEqual([
      { id: 42n, ...pet, partition: '2', statusPartition: 'sold#2', creation: expect.any(String) },
    ]);
  });

  test('spreads the ids it draws over all partitions', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    mock.on(PutCommand).resolves({});
    for (let pet = 0; pet < 60; pet += 1) await createPet(rex);
    expect(new Set(written().map(({ partition }) => partition))).toEqual(new Set(['0', '1', '2', '3']));
  });

  test('marks each pet as made by a call of its own', async () => {
    mock.on(PutCommand).resolves({});
    await createPet(rex, draws(42n));
    await createPet(rex, draws(43n));
    expect(new Set(written().map(({ creation }) => creation)).size).toBe(2);
  });

  test('is counted once its write is acknowledged', async () => {
    const before: unknown[] = [];
    mock.on(PutCommand).callsFake(() => {
      before.push(...occurrences());
      return {};
    });
    await createPet(rex, draws(42n));
    expect(before).toEqual([]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  });

  test('is done when the id is taken by the pet of this very call, whose write got no answer', async () => {
    mock.on(PutCommand).rejects(taken);
    mock.on(GetCommand).callsFake(() => ({ Item: { ...written()[0] } }));
    expect(await createPet(rex, draws(42n))).toEqual({ id: 42n, ...rex });
    expect(mock.commandCalls(PutCommand)).toHaveLength(1);
    expect(mock.commandCalls(GetCommand).map(({ args }) => args[0].input)).toEqual([
      { TableName: 'pets', Key: { id: 42n }, ConsistentRead: true },
    ]);
  });

  test.each<[string, object]>([
    ['another pet', { id: 42n, name: 'Rex', categoryId: 7n, creation: 'of another call', partition: '0' }],
    ['a pet without a creation', { id: 42n, ...rex, partition: '0' }],
  ])('draws another id when the first is taken by %s', async (_what, Item) => {
    mock.on(PutCommand).rejectsOnce(taken).resolves({});
    mock.on(GetCommand).resolves({ Item });
    expect(await createPet(rex, draws(42n, 43n))).toEqual({ id: 43n, ...rex });
    expect(written().map(({ id, creation }) => [id, creation])).toEqual([
      [42n, expect.any(String)],
      [43n, written()[0]?.['creation']],
    ]);
  });

  test('does not draw another id when nobody can tell whose the taken one is', async () => {
    mock.on(PutCommand).rejects(taken);
    mock.on(GetCommand).resolves({});
    await expect(createPet(rex, draws(42n, 43n))).rejects.toEqual(refused('service_unavailable'));
    expect(written()).toHaveLength(1);
  });

  test('gives up when every id that it draws is taken, and says that it may be tried again', async () => {
    mock.on(PutCommand).rejects(taken);
    mock.on(GetCommand).resolves({ Item: { creation: 'of another call' } });
    let id = 0n;
    const creating = createPet(rex, () => (id += 1n));
    await expect(creating).rejects.toEqual(refused('service_unavailable', 'No identifier'));
    expect(written().map((item) => item['id'])).toEqual(
      Array.from({ length: 20 }, (_, index) => BigInt(index + 1)),
    );
  });

  test('does not draw again on an error that says nothing of the id', async () => {
    mock.on(PutCommand).rejects(lost);
    await expect(createPet(rex, draws(42n))).rejects.toBe(lost);
    expect(written()).toHaveLength(1);
  });

  test('fails when it cannot tell whose the taken id is', async () => {
    mock.on(PutCommand).rejects(taken);
    mock.on(GetCommand).rejects(lost);
    await expect(createPet(rex, draws(42n))).rejects.toBe(lost);
    expect(written()).toHaveLength(1);
  });
});

describe('reading a pet', () => {
  const item = { id: 42n, ...rex, creation: 'of a call', partition: '0' };

  test('reads the last acknowledged write', async () => {
    mock.on(GetCommand).resolves({ Item: item });
    await getPet(42n);
    expect(mock.calls().map(({ args }) => args[0].input)).toEqual([
      { TableName: 'pets', Key: { id: 42n }, ConsistentRead: true },
    ]);
  });

  test('gives what belongs to the pet and nothing of its storage', async () => {
    mock
      .on(GetCommand)
      .resolvesOnce({ Item: item })
      .resolvesOnce({ Item: { ...item, status: 'sold', statusPartition: 'sold#0' } });
    expect(await getPet(42n)).toStrictEqual({ id: 42n, ...rex });
    expect(await getPet(42n)).toStrictEqual({ id: 42n, ...rex, status: 'sold' });
  });

  test('finds nothing where there is none', async () => {
    mock.on(GetCommand).resolves({});
    expect(await getPet(42n)).toBeUndefined();
  });
});
