import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { list } from '../../../shared/storage/lists.ts';
import { type Pet, pets as collection, PetStatus } from '../../../shared/contract/pets.ts';
import { inputs, mock, setEnvironment } from '../../support/mocked-database.ts';
import { petWithoutStatus } from '../../support/sample.ts';

const statuses = fc.constantFrom(...PetStatus.options, undefined);

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });

interface IndexedPet extends Pet {
  creation: string;
  partition: string;
  statusPartition?: string;
}

const KEY_OF_INDEX: Record<string, string> = {
  newest: 'partition',
  'newest-by-status': 'statusPartition',
};

/** Returns the pet that a stage stores for a pet. @param partitions number of the stage's list partitions */
function indexedPet(
  id: bigint,
  { partitions = 1, status }: { partitions?: number; status?: PetStatus | undefined } = {},
): IndexedPet {
  const partition = (id % BigInt(partitions)).toString();
  return {
    id,
    ...petWithoutStatus,
    name: `Number ${id}`,
    creation: `creation of ${id}`,
    partition,
    ...(status && { status, statusPartition: `${status}#${partition}` }),
  };
}

/**
 * Mocks queries of both indexes. A query returns the matching pets that `pets` contains at the time of the query, up
 * to `Limit` or `petsAtOnce`, whichever is smaller. As in DynamoDB, a query that reaches this limit returns a
 * LastEvaluatedKey even if no further pet follows. `afterQuery` is called after each query.
 */
function serveIndexes(pets: readonly IndexedPet[], petsAtOnce = Infinity, afterQuery = (): void => {}): void {
  mock.reset(); // otherwise, the record of calls grows with each run and slows the test down
  mock.on(QueryCommand).callsFake((input: QueryCommandInput) => {
    const { IndexName = '', ScanIndexForward = true, Limit = Infinity, ExclusiveStartKey } = input;
    const key = KEY_OF_INDEX[IndexName];
    const values = unmarshall(input.ExpressionAttributeValues!, { wrapNumbers: BigInt });
    if (input.ExpressionAttributeNames?.['#key'] !== key) throw new Error(`#key must be ${key}.`);
    const sorted = pets
      .filter((pet) => isMatch(pet, input, values))
      .toSorted((one, other) => (one.id < other.id === ScanIndexForward ? -1 : 1));
    const start = sorted.findIndex(({ id }) => id.toString() === ExclusiveStartKey?.['id']?.N) + 1;
    const end = start + Math.min(Limit, petsAtOnce);
    const last = sorted[end - 1] as any;
    const LastEvaluatedKey = last && marshall({ id: last.id, [key!]: last[key!] });
    afterQuery();
    return { Items: sorted.slice(start, end).map((pet) => marshall(pet)), LastEvaluatedKey };
  });
}

function isMatch(pet: any, input: QueryCommandInput, values: Record<string, unknown>): boolean {
  return input.KeyConditionExpression!.split(' AND ').every((condition) => {
    const [name = '', operator, value = ''] = condition.split(' ');
    const actual = pet[input.ExpressionAttributeNames?.[name] ?? name];
    const operand: any = values[value];
    if (operator === '=') return actual === operand;
    if (operator === '<') return actual < operand;
    throw new Error(`The indexes do not support this condition: ${condition}`);
  });
}

/** Generates pets from oldest to newest. Several consecutive pets can be in the same partition. */
function petsOver(partitions: number): fc.Arbitrary<IndexedPet[]> {
  const run = fc.tuple(fc.nat(partitions - 1), fc.array(statuses, { maxLength: 25 }));
  return fc
    .array(run, { maxLength: 20, size: '+1' })
    .map((runs) =>
      runs
        .flatMap(([partition, all]) => all.map((status) => ({ partition, status })))
        .map(({ partition, status }, index) =>
          indexedPet(BigInt(index * partitions + partition + 1), { partitions, status }),
        ),
    );
}

async function allPages(limit: number, status?: PetStatus): Promise<bigint[][]> {
  const pages: bigint[][] = [];
  let cursor: bigint | undefined;
  do {
    const page = await list(collection, {
      limit,
      filters: status ? { status } : {},
      ...(cursor && { cursor }),
    });
    pages.push(page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

describe.each([1, 4, 16])('a list over %i partitions', (partitions) => {
  const lists = fc.record({
    pets: petsOver(partitions),
    limit: fc.integer({ min: 1, max: 30 }),
    status: statuses,
    petsAtOnce: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 })),
    grows: fc.boolean(),
  });

  beforeEach(() => {
    process.env['LIST_PARTITIONS'] = partitions.toString();
  });

  test('contains each initially matching pet exactly once, newest first, while pets are added', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ pets, limit, status, petsAtOnce, grows }) => {
        const stored = [...pets];
        serveIndexes(stored, petsAtOnce, () => {
          if (grows) stored.push(indexedPet(2n ** 53n + BigInt(stored.length), { partitions, status }));
        });
        const pages = await allPages(limit, status);
        const listed = pages.flat();
        const expected = pets.filter((pet) => !status || pet.status === status).map(({ id }) => id);
        expect(listed.filter((id) => id < 2n ** 53n)).toEqual(expected.toReversed());
        expect(listed.every((id, index) => index === 0 || id < listed[index - 1]!)).toBe(true);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        expect(pages.length === 1 || pages.at(-1)!.length > 0).toBe(true);
      }),
    );
  });

  test('requests at most one pet more than the limit from each partition, in at most two queries', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ pets, limit }) => {
        serveIndexes(pets);
        await list(collection, { limit, filters: {} });
        const byKey = Map.groupBy(inputs(), ({ ExpressionAttributeValues: values }) => values?.[':key']?.S);
        for (const [first, second, ...more] of byKey.values()) {
          expect(first!.Limit! + (second?.Limit ?? 0)).toBeLessThanOrEqual(limit + 1);
          expect(more).toEqual([]);
        }
      }),
    );
  });
});

describe('the queries of a list', () => {
  test.each(['0', '1.5'])('fail if LIST_PARTITIONS is %s', async (n) => {
    process.env['LIST_PARTITIONS'] = n;
    await expect(list(collection, { limit: 20, filters: {} })).rejects.toThrow(
      'LIST_PARTITIONS must be a positive integer',
    );
  });

  test('continue only in partitions that can contain more pets of the page', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    // Partition 2 contains the five newest pets. Partition 1 contains the remaining 35 pets.
    const ids = Array.from({ length: 40 }, (_, index) => BigInt(400 - 4 * index + (index < 5 ? 2 : 1)));
    const pets = ids.map((id) => indexedPet(id, { partitions: 4 }));
    serveIndexes(pets);
    const listing = list(collection, { limit: 20, filters: {} });
    const first = inputs();
    expect(first.map(({ Limit }) => Limit)).toEqual([14, 14, 14, 14]);
    await listing;
    const ExclusiveStartKey = marshall({ id: ids[18], partition: '1' });
    expect(inputs()).toEqual([...first, { ...first[1], Limit: 2, ExclusiveStartKey }]);
  });

  test('request only the fields of pets, and one more pet than the limit of the page', async () => {
    mock.on(QueryCommand).resolves({});
    await list(collection, { limit: 100, filters: {} });
    const ProjectionExpression = '#id,#name,#categoryId,#status';
    expect(inputs()).toMatchObject([{ ProjectionExpression, Limit: 101 }]);
  });

  test('fail with the error of a failed query', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    const error = Object.assign(new Error('?'), { name: 'ThrottlingException' });
    mock
      .on(QueryCommand)
      .resolvesOnce({ Items: [marshall(indexedPet(4n))] })
      .rejects(error);
    await expect(list(collection, { limit: 3, filters: {} })).rejects.toBe(error);
  });
});
