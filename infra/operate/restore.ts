import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { listIndexes } from '../../shared/contract/lists.ts';
import { collections } from '../../shared/contract/operations.ts';
import { connect } from '../../shared/storage/database.ts';
import { integerOption, type OptionValues, runWithOptions, UsageError } from '../command.ts';
import { httpsAgent } from '../proxy.ts';
import { addIndexKeys, copyMissing, copyMissingKeys, paceOf, type Run } from './copy-items.ts';
import { findCaller } from './deployed-stage.ts';
import { isKeyId } from './key-store.ts';

const PROGRESS_MILLISECONDS = 5_000;
const names = collections.map(({ plural }) => plural);

const USAGE = `npm run restore -- --from TABLE --to TABLE [--revoked KEY_ID ... | --revoked none] [OPTION ...]

Copies the items that the table --to lacks from the table --from, for example from a restored backup. Replaces nothing. If
both are the same table, adds the keys of new combinations of filters to its items. To continue after an interruption, run
the command again. Requires AWS credentials, and the region of the tables in AWS_REGION.

  --revoked            for a table of API keys: the id of a key that was revoked after the restore point, once for each
                       such key, or none. These keys are copied as revoked, and so are keys whose rotation is lost
  --collection         what the tables contain: ${names.join(' or ')} (default: ${names[0]})
  --writes-per-second  limit that leaves room for the creates of clients (default: 200)`;

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  revoked: { type: 'string', multiple: true },
  collection: { type: 'string', default: names[0] as string },
  'writes-per-second': { type: 'string', default: '200' },
} as const;

async function restore({ from, to, revoked, collection: name, ...values }: OptionValues<typeof options>) {
  if (!from || !to) throw new UsageError('Set --from and --to to the names of tables.');
  const collection = collections.find(({ plural }) => plural === name);
  if (!collection) throw new UsageError(`--collection must be ${names.join(' or ')}.`);
  const perSecond = integerOption('--writes-per-second', values['writes-per-second'], 1, 100_000);
  const database = connect({ maxAttempts: 10, retryMode: 'adaptive' }, httpsAgent);
  const [source, target] = [await describe(database, from), await describe(database, to)];
  if (source.key !== target.key)
    throw new UsageError(
      `The items of ${from} have the key ${source.key}, but those of ${to} have ${target.key}.`,
    );
  const isOfKeys = target.key === 'hash';
  if (isOfKeys && from === to) throw new UsageError('For API keys, --from and --to must differ.');
  const ids = isOfKeys ? revokedOption(revoked) : new Set<string>();

  const verb = from === to ? 'changed' : isOfKeys ? 'copied or revoked' : 'copied';
  let [read, written] = [0, 0];
  const count = (more: number, moreWritten: number) => {
    read += more;
    written += moreWritten;
  };
  const progress = () => {
    const about = source.items > read ? ` of about ${source.items}` : ''; // DynamoDB counts a new table after hours.
    console.error(`${read}${about} items read, ${written} ${verb}`);
  };
  const timer = setInterval(progress, PROGRESS_MILLISECONDS);
  const run: Run = { database, pace: paceOf(perSecond), count };
  // Only collections have indexes whose keys are computed.
  const indexes = target.key === 'id' ? listIndexes(collection) : [];
  try {
    if (from === to) await addIndexKeys(run, to, target.key, indexes);
    else if (isOfKeys) await copyMissingKeys(run, from, to, ids, await findCaller());
    else await copyMissing(run, from, to, target.key, indexes);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    progress();
    console.error('To continue, run the command again.');
    throw error;
  } finally {
    clearInterval(timer);
  }
  console.log(`${read} items read, ${written} ${verb}. Finished.`);
}

/** Returns the name of a table's partition key, and its number of items, which DynamoDB counts every six hours. */
async function describe(database: DynamoDBDocumentClient, TableName: string) {
  const { Table } = await database.send(new DescribeTableCommand({ TableName }));
  return { key: Table!.KeySchema![0]!.AttributeName!, items: Table!.ItemCount ?? 0 };
}

/**
 * Returns the ids of revoked keys.
 *
 * @throws UsageError if there is none, because a key that is copied without its revocation would work again. The message
 *   does not quote the values, which can be API keys.
 */
function revokedOption(ids: string[] = []): Set<string> {
  if (ids.join() === 'none') return new Set();
  if (ids.length > 0 && ids.every(isKeyId)) return new Set(ids);
  throw new UsageError(
    'The tables contain API keys. Set --revoked to the id of each key that was revoked after the restore point, such as ' +
      '--revoked key_01a2… --revoked key_01b3…, or to none. To find these keys, see "Lost keys" in docs/recover.md.',
  );
}

await runWithOptions(USAGE, options, restore, { permissions: 'docs/policies/break-glass.json' });
