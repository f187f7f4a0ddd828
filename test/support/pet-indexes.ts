import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AwsStub } from 'aws-sdk-client-mock';

export interface IndexedPet {
  id: bigint;
  name: string;
  categoryId: bigint;
  creation: string;
  partition: string;
  statusPartition?: string;
  status?: 'available' | 'pending' | 'sold';
}

const KEY_OF_INDEX: Record<string, string> = {
  newest: 'partition',
  'newest-by-status': 'statusPartition',
};

/** An item of the table as a write with this number of partitions leaves it. */
export function indexedPet(
  id: bigint,
  { partitions = 1, status }: { partitions?: number; status?: IndexedPet['status'] } = {},
): IndexedPet {
  const partition = (id % BigInt(partitions)).toString();
  return {
    id,
    name: `Pet ${id}`,
    categoryId: -id,
    creation: `creation of ${id}`,
    partition,
    ...(status && { status, statusPartition: `${status}#${partition}` }),
  };
}

/**
 * Answers from now on queries of the two indexes from these items, which may be added to meanwhile. As DynamoDB does, it
 * stops after `Limit` items, or sooner (`itemsAtOnce`), and gives a LastEvaluatedKey whenever it stopped, even
 * when nothing follows.
 */
export function serveIndexes(
  mock: Pick<AwsStub<any, any, any>, 'on' | 'reset'>,
  items: readonly IndexedPet[],
  itemsAtOnce = Infinity,
): void {
  // Else the record of calls grows from run to run of a property, and each call gets slower.
  mock.reset();
  mock.on(QueryCommand).callsFake((input: QueryCommandInput) => {
    const key = KEY_OF_INDEX[input.IndexName ?? ''] ?? 'no such index';
    const conditions = conditionsOf(input);
    if (!conditions.some(({ attribute, operator }) => attribute === key && operator === '=')) {
      throw new Error(`Query condition missed key schema element: ${key}`);
    }
    const start = input.ExclusiveStartKey?.['id'] as bigint | undefined;
    const matching = items
      .filter((item) => conditions.every((condition) => holds(item, condition)))
      .toSorted((one, other) => (one.id < other.id === (input.ScanIndexForward ?? true) ? -1 : 1))
      .filter(
        ({ id }) => start === undefined || (input.ScanIndexForward === false ? id < start : id > start),
      );
    const stop = Math.min(input.Limit ?? Infinity, itemsAtOnce);
    const last = matching[stop - 1];
    return {
      Items: matching.slice(0, stop),
      ...(last && { LastEvaluatedKey: { id: last.id, [key]: last[key as keyof IndexedPet] } }),
    };
  });
}

interface Condition {
  attribute: string;
  operator: string;
  operand: unknown;
}

function conditionsOf(input: QueryCommandInput): Condition[] {
  return (input.KeyConditionExpression ?? '').split(' AND ').map((condition) => {
    const [name = '', operator = '', value = ''] = condition.split(' ');
    return {
      attribute: input.ExpressionAttributeNames?.[name] ?? name,
      operator,
      operand: input.ExpressionAttributeValues?.[value],
    };
  });
}

function holds(item: IndexedPet, { attribute, operator, operand }: Condition): boolean {
  const value = item[attribute as keyof IndexedPet];
  if (operator === '=') return value === operand;
  if (operator === '<') return (value as bigint) < (operand as bigint);
  throw new Error(`Not a key condition that the indexes serve: ${operator}`);
}
