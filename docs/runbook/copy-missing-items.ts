import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import {
  type AttributeValue,
  DescribeTableCommand,
  DynamoDBClient,
  paginateScan,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { completeResponses } from '../../shared/storage/complete-responses.ts';
import { conditionHolds } from '../../shared/storage/database.ts';
import { runWithOptions, UsageError } from '../../infra/command.ts';

type Item = Record<string, AttributeValue>;

const USAGE = `SOURCE=TABLE TARGET=TABLE node --require ./infra/require-node.cjs docs/runbook/copy-missing-items.ts

Copies the items in the table SOURCE that the table TARGET does not contain. To resume after an
interruption, repeat the command.`;

async function copyMissingItems(): Promise<void> {
  const { SOURCE, TARGET } = process.env;
  if (SOURCE === TARGET) throw new UsageError('Set SOURCE and TARGET to the names of different tables.');
  // An empty response to a scan would otherwise count as a segment without items.
  const requestHandler = completeResponses(10_000);
  const client = new DynamoDBClient({ maxAttempts: 10, retryMode: 'adaptive', requestHandler });
  const describe = (TableName?: string) => client.send(new DescribeTableCommand({ TableName }));
  const [{ Table: source }, { Table: target }] = await Promise.all([describe(SOURCE), describe(TARGET)]);
  const file = `restore-${source!.TableId}-${target!.TableId}.json`;
  const start = { read: 0, copied: 0, next: Array<Item | 'end' | null>(8).fill(null) };
  const progress = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as typeof start) : start;
  const isMissing = {
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': target!.KeySchema![0]!.AttributeName! },
  };
  const copy = (Item: Item) =>
    conditionHolds(client.send(new PutItemCommand({ TableName: TARGET, Item, ...isMissing })));

  async function copySegment(startingToken: Item | 'end' | null, Segment: number): Promise<void> {
    if (startingToken === 'end') return;
    const scan = { TableName: SOURCE, Segment, TotalSegments: progress.next.length, ConsistentRead: true };
    const pages = paginateScan({ client, pageSize: 25, startingToken }, scan);
    for await (const { Items = [], LastEvaluatedKey } of pages) {
      const areCopied = await Promise.all(Items.map(copy));
      progress.copied += areCopied.filter(Boolean).length;
      progress.read += Items.length;
      progress.next[Segment] = LastEvaluatedKey ?? 'end';
      writeFileSync(`${file}.new`, JSON.stringify(progress));
      renameSync(`${file}.new`, file);
      console.log(`${progress.read} of about ${source!.ItemCount} items read, ${progress.copied} copied`);
    }
  }
  await Promise.all(progress.next.map(copySegment));
  rmSync(file);
}

await runWithOptions(USAGE, {}, copyMissingItems);
