import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { AwsStub } from 'aws-sdk-client-mock';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { requiredInput, textField } from './sample.ts';

export interface IndexedPet extends Pet {
  creation: string;
  partition: string;
  statusPartition?: string;
}

const KEY_OF_INDEX: Record<string, string> = {
  newest: 'partition',
  'newest-by-status': 'statusPartition',
};

/** Returns the item that a stage with `partitions` list partitions stores for a pet. */
export function indexedPet(
  id: bigint,
  { partitions = 1, status }: { partitions?: number; status?: PetStatus | undefined } = {},
): IndexedPet {
  const partition = (id % BigInt(partitions)).toString();
  return {
    id,
    ...requiredInput,
    [textField]: `Number ${id}`,
    creation: `creation of ${id}`,
    partition,
    ...(status && { status, statusPartition: `${status}#${partition}` }),
  };
}

/**
 * Mocks queries of both indexes. A query returns the matching elements that `items` contains at that time, up to
 * `Limit` or `itemsAtOnce`. As in DynamoDB, a query that reaches this limit returns a LastEvaluatedKey even if no item
 * follows. `afterQuery` is called after each query.
 */
export function serveIndexes(
  mock: Pick<AwsStub<any, any, any>, 'on' | 'reset'>,
  items: readonly IndexedPet[],
  itemsAtOnce = Infinity,
  afterQuery = (): void => {},
): void {
  mock.reset(); // otherwise, the record of calls grows with each run of a property and slows it down
  mock.on(QueryCommand).callsFake((input: QueryCommandInput) => {
    const { IndexName = '', ScanIndexForward = true, Limit = Infinity, ExclusiveStartKey } = input;
    const key = KEY_OF_INDEX[IndexName];
    const values = unmarshall(input.ExpressionAttributeValues!, { wrapNumbers: BigInt });
    if (input.ExpressionAttributeNames?.['#key'] !== key) throw new Error(`#key must be ${key}.`);
    const sorted = items
      .filter((item) => isMatch(item, input, values))
      .toSorted((one, other) => (one.id < other.id === ScanIndexForward ? -1 : 1));
    const start = sorted.findIndex(({ id }) => id.toString() === ExclusiveStartKey?.['id']?.N) + 1;
    const end = start + Math.min(Limit, itemsAtOnce);
    const last = sorted[end - 1] as any;
    const LastEvaluatedKey = last && marshall({ id: last.id, [key!]: last[key!] });
    afterQuery();
    return { Items: sorted.slice(start, end).map((item) => marshall(item)), LastEvaluatedKey };
  });
}

function isMatch(item: any, input: QueryCommandInput, values: Record<string, unknown>): boolean {
  return input.KeyConditionExpression!.split(' AND ').every((condition) => {
    const [name = '', operator, value = ''] = condition.split(' ');
    const actual = item[input.ExpressionAttributeNames?.[name] ?? name];
    const operand: any = values[value];
    if (operator === '=') return actual === operand;
    if (operator === '<') return actual < operand;
    throw new Error(`The indexes do not support this condition: ${condition}`);
  });
}
