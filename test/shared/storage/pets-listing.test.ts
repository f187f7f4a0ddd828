import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { listPets } from '../../../shared/storage/pets.ts';
import type { PetStatus } from '../../../shared/contract/schemas.ts';
import { mock, setEnvironment } from '../../support/mocked-database.ts';
import { indexedPet, serveIndexes } from '../../support/pet-indexes.ts';

const petId = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });
const petIds = fc.uniqueArray(petId, { maxLength: 40 });
const someAtOnce = fc.integer({ min: 1, max: 5 });
const limits = fc.integer({ min: 1, max: 12 });
const statuses = fc.constantFrom<PetStatus | undefined>('available', 'pending', 'sold', undefined);

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });

function newestFirst(ids: bigint[]): bigint[] {
  return ids.toSorted((one, other) => (one > other ? -1 : 1));
}

/** The pages of a list from its start to its end. */
async function walk(limit: number, status?: PetStatus, betweenPages = (): void => {}): Promise<bigint[][]> {
  const pages: bigint[][] = [];
  let cursor: bigint | undefined;
  do {
    const page = await listPets({ limit, ...(status && { status }), ...(cursor && { cursor }) });
    pages.push(page.pets.map(({ id }) => id));
    cursor = page.next;
    betweenPages();
  } while (cursor !== undefined);
  return pages;
}

describe.each([1, 4])('a list over %i partitions', (partitions) => {
  beforeEach(() => {
    process.env['LIST_PARTITIONS'] = partitions.toString();
  });

  test('has each pet, those of a status if one is asked for, once, newest first, in full pages', async () => {
    const dealt = fc.uniqueArray(fc.record({ id: petId, status: statuses }), {
      selector: ({ id }) => id,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(dealt, limits, statuses, someAtOnce, async (pets, limit, asked, itemsAtOnce) => {
        const items = pets.map(({ id, status }) => indexedPet(id, { partitions, status }));
        serveIndexes(mock, items, itemsAtOnce);
        const expected = pets.filter(({ status }) => asked === undefined || status === asked);
        const pages = await walk(limit, asked);
        expect(pages.flat()).toEqual(newestFirst(expected.map(({ id }) => id)));
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        expect(pages.at(-1)).toHaveLength(expected.length === 0 ? 0 : expected.length % limit || limit);
      }),
    );
  });

  test('neither repeats nor skips a pet while newer ones are added', async () => {
    await fc.assert(
      fc.asyncProperty(petIds, limits, someAtOnce, async (ids, limit, addedAtOnce) => {
        const items = ids.map((id) => indexedPet(id, { partitions }));
        serveIndexes(mock, items);
        let newest = 2n ** 53n;
        const pages = await walk(limit, undefined, () => {
          for (let added = 0; added < addedAtOnce; added += 1)
            items.push(indexedPet((newest += 1n), { partitions }));
        });
        expect(pages.flat()).toEqual(newestFirst(ids));
      }),
    );
  });
});

describe('the queries of a list', () => {
  test.each(['0', '1.5'])('are none when the stage has %s partitions: that is an error', async (n) => {
    process.env['LIST_PARTITIONS'] = n;
    await expect(listPets({ limit: 20 })).rejects.toThrow('LIST_PARTITIONS must be a positive integer');
  });

  test('ask each partition of the index for one pet more than the page has', async () => {
    process.env['LIST_PARTITIONS'] = '2';
    mock.on(QueryCommand).resolves({});
    expect(await listPets({ limit: 20 })).toEqual({ pets: [] });
    expect(mock.calls().map(({ args }) => args[0].input)).toEqual(
      ['0', '1'].map((partition) => ({
        TableName: 'pets',
        IndexName: 'newest',
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': 'partition' },
        ExpressionAttributeValues: { ':key': partition },
        ScanIndexForward: false,
        Limit: 21,
      })),
    );
  });

  test('start below the cursor, in the index of the status', async () => {
    mock.on(QueryCommand).resolves({});
    await listPets({ limit: 100, status: 'pending', cursor: 42n });
    expect(mock.calls().map(({ args }) => args[0].input)).toEqual([
      {
        TableName: 'pets',
        IndexName: 'newest-by-status',
        KeyConditionExpression: '#key = :key AND id < :cursor',
        ExpressionAttributeNames: { '#key': 'statusPartition' },
        ExpressionAttributeValues: { ':key': 'pending#0', ':cursor': 42n },
        ScanIndexForward: false,
        Limit: 101,
      },
    ]);
  });

  test('go on where DynamoDB stopped early, for what is still missing', async () => {
    const LastEvaluatedKey = { id: 8n, partition: '0' };
    mock
      .on(QueryCommand)
      .resolvesOnce({ Items: [indexedPet(9n), indexedPet(8n)], LastEvaluatedKey })
      .resolvesOnce({ Items: [], LastEvaluatedKey: { id: 5n, partition: '0' } })
      .resolvesOnce({
        Items: [indexedPet(3n), indexedPet(1n)],
        LastEvaluatedKey: { id: 1n, partition: '0' },
      });
    const { pets, next } = await listPets({ limit: 3 });
    expect([pets.map(({ id }) => id), next]).toEqual([[9n, 8n, 3n], 3n]);
    expect(mock.commandCalls(QueryCommand).map(({ args }) => args[0].input)).toMatchObject([
      {},
      { Limit: 2, ExclusiveStartKey: LastEvaluatedKey },
      { Limit: 2, ExclusiveStartKey: { id: 5n, partition: '0' } },
    ]);
  });

  test('fail together when one of them fails', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    const error = Object.assign(new Error('?'), { name: 'ThrottlingException' });
    mock
      .on(QueryCommand)
      .resolvesOnce({ Items: [indexedPet(4n)] })
      .rejects(error);
    await expect(listPets({ limit: 3 })).rejects.toBe(error);
  });
});
