import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { HttpRequest, HttpResponse } from '@smithy/core/transport';
import dynalite from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import { isDeepStrictEqual } from 'node:util';
import { type Process, Violation, type World } from './world.ts';

// This DynamoDB in memory shows rare behavior that AWS's documentation allows, such as outdated reads of indexes.
// Dynalite evaluates the expressions in requests.

/**
 * Time after which each replica of an index contains a write. AWS documents no limit: an index usually follows "within a
 * fraction of a second".
 */
const LAG_MILLISECONDS = 1_000;
/** Time after which a delayed write arrives. */
const DELAY_MILLISECONDS = 120_000;
const REPLICAS = 2;

export type Item = Record<string, AttributeValue>;

export interface TableSettings {
  /** Name of the table's key. */
  key: string;
  /** Indexes by name. */
  indexes?: Record<string, { partitionKey: string; sortKey: string }>;
  /** Attribute with the time of expiry in seconds. */
  timeToLive?: string;
}

interface Table extends TableSettings {
  items: Map<string, Item>;
  /** For each index, its replicas. A replica contains old versions of items until it has applied the pending changes. */
  replicas: Record<string, Replica[]>;
}

interface Replica {
  items: Map<string, Item>;
  pending: Change[];
}

/** A change of a table, or of an index if the item has the index's keys. */
export interface Change {
  time: number;
  table: string;
  key: string;
  before: Item | undefined;
  after: Item | undefined;
  /** Process that sent the write. Undefined for TTL, and for items that a scope stores without a request. */
  writer: Process | undefined;
}

interface Reply {
  status: number;
  body: object;
}

/** What can happen to a request. The first fate is the usual one. */
const READ_FATES = ['arrives', 'is lost', 'is throttled'];
const WRITE_FATES = [
  'arrives',
  'is lost',
  'is throttled',
  'arrives, but its response is lost',
  'arrives, and fails afterwards',
  'arrives after two minutes',
  'arrives after two minutes, and its retries are lost',
];
/** Time for which all requests of a process are lost after a write with the last of these fates. */
const OUTAGE_MILLISECONDS = 20_000;

export type Database = ReturnType<typeof startDatabase>;

/** Adds a database to a world. */
export function startDatabase(world: World, settings: Record<string, TableSettings>) {
  const tables: Record<string, Table> = Object.fromEntries(
    Object.entries(settings).map(([name, table]) => [name, emptyTable(table)]),
  );
  const changes: Change[] = [];
  /** For each process whose requests are lost, the time until which they are lost. */
  const outages = new Map<Process, number>();

  function write(name: string, after: Item | undefined, key: string, writer?: Process): void {
    const table = tables[name]!;
    const before = table.items.get(key);
    if (after) table.items.set(key, after);
    else table.items.delete(key);
    if (isDeepStrictEqual(before, after)) return;
    const change = { time: world.now(), table: name, key, before, after, writer };
    changes.push(change);
    for (const replicas of Object.values(table.replicas))
      for (const replica of replicas) replica.pending.push(change);
  }

  const actions: Record<string, (input: any, sender: Process) => Reply> = {
    GetItem({ TableName, Key, ConsistentRead }) {
      if (!ConsistentRead) throw new Error('The simulation has only consistent reads of items.');
      return ok({ Item: tables[TableName]!.items.get(keyOf(TableName, Key)) });
    },

    PutItem(input, sender) {
      const { TableName, Item } = input;
      const key = keyOf(TableName, Item);
      if (!holds(input, tables[TableName]!.items.get(key))) return conditionFailed;
      write(TableName, Item, key, sender);
      return ok({});
    },

    UpdateItem(input, sender) {
      const { TableName, Key } = input;
      const key = keyOf(TableName, Key);
      const before = tables[TableName]!.items.get(key);
      if (!holds(input, before)) return conditionFailed;
      write(TableName, { ...(before ?? Key), ...updatesOf(input) }, key, sender);
      return ok({});
    },

    Query(input) {
      const { TableName, IndexName, ScanIndexForward = true } = input;
      const { sortKey } = tables[TableName]!.indexes![IndexName]!;
      const { _keyCondition: condition } = parse(input);
      const matching = visible(TableName, IndexName).filter((item) =>
        dynalite.matchesExprFilter(item, condition.expression),
      );
      const sorted = matching.toSorted((one, other) => compare(one[sortKey]!, other[sortKey]!));
      if (!ScanIndexForward) sorted.reverse();
      const { partitionKey } = tables[TableName]!.indexes![IndexName]!;
      const names = [...new Set([tables[TableName]!.key, partitionKey, sortKey])];
      return page(input, sorted, names);
    },
  };

  function keyOf(name: string, item: Item): string {
    return JSON.stringify(item[tables[name]!.key]);
  }

  /** Returns the items that a replica of an index contains. The schedule chooses the replica, and what it has applied. */
  function visible(name: string, index: string): Item[] {
    const replicas = tables[name]!.replicas[index]!;
    for (const replica of replicas) apply(replica, ({ time }) => world.now() - time >= LAG_MILLISECONDS);
    const options: { text: string; see: () => Replica }[] = [
      {
        text: `${index} is up to date`,
        see: () => apply(replicas[0]!, () => true),
      },
    ];
    for (const [number, replica] of replicas.entries()) {
      if (replica.pending.length === 0) continue;
      options.push({ text: `replica ${number} of ${index} lags`, see: () => replica });
      if (replica.pending.length > 1)
        for (const change of replica.pending)
          options.push({
            text: `replica ${number} of ${index} has applied only ${change.key}`,
            see: () => apply(replica, (one) => one === change),
          });
    }
    const chosen = options[world.choose(options.map(({ text }) => text))]!;
    if (options.length > 1) world.note(chosen.text);
    const { partitionKey, sortKey } = tables[name]!.indexes![index]!;
    return [...chosen.see().items.values()].filter((item) => item[partitionKey] && item[sortKey]);
  }

  /** Returns a page of a query or a scan. The schedule can make it shorter than the limit. */
  function page(input: any, all: Item[], keyNames: string[]): Reply {
    const { Limit = Infinity, ExclusiveStartKey } = input;
    const keysOf = (item: Item) => Object.fromEntries(keyNames.map((name) => [name, item[name]!]));
    const start = ExclusiveStartKey ? positionAfter(all, ExclusiveStartKey, keysOf, input) : 0;
    const rest = all.slice(start);
    const sizes = [...new Set([Math.min(Limit, rest.length), 1])].filter((size) => size <= rest.length);
    const size = sizes[world.choose(sizes.map((count) => `The page has ${count} items.`))] ?? 0;
    const Items = rest.slice(0, size);
    const reachesLimit = size > 0 && (size === Limit || size < rest.length);
    return ok({ Items, ...(reachesLimit && { LastEvaluatedKey: keysOf(Items.at(-1)!) }) });
  }

  /** Returns the position of the first item after a key. The replica of an index may not contain the item with the key. */
  function positionAfter(all: Item[], startKey: Item, keysOf: (item: Item) => Item, input: any): number {
    const exact = all.findIndex((item) => isDeepStrictEqual(keysOf(item), startKey));
    if (exact >= 0) return exact + 1;
    const { sortKey } = tables[input.TableName]!.indexes![input.IndexName]!;
    const order = input.ScanIndexForward === false ? -1 : 1;
    const next = all.findIndex((item) => compare(item[sortKey]!, startKey[sortKey]!) * order > 0);
    return next < 0 ? all.length : next;
  }

  function send(sender: Process, request: HttpRequest, abortSignal?: AbortSignal) {
    const action = String(request.headers['x-amz-target']).split('.')[1]!;
    const input = JSON.parse(Buffer.from(request.body).toString());
    const handle = actions[action];
    if (!handle) throw new Error(`The simulation has no ${action}.`);
    const execute = () => handle(input, sender);
    const isWrite = ['PutItem', 'UpdateItem'].includes(action);
    const text = `${sender.name}: ${action} ${subjectOf(input)}`;
    if (isWrite && sender.hasResponded) world.fail(`${text} starts after the response.`);
    const { promise, resolve, reject } = Promise.withResolvers<{ response: HttpResponse }>();
    const abort = () => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }));
    abortSignal?.addEventListener('abort', abort);
    const respond = ({ status, body }: Reply) => {
      if (!sender.isAlive) return;
      const headers = { 'content-type': 'application/x-amz-json-1.0' };
      resolve({ response: { statusCode: status, headers, body: [Buffer.from(JSON.stringify(body))] } });
    };
    const arriveLate = () => {
      const late = { text: `${text} arrives late`, process: network, fates: ['arrives'] };
      world.postAfter(DELAY_MILLISECONDS, { ...late, deliver: () => void execute() });
    };
    const fates: Record<string, () => void> = {
      arrives: () => respond(execute()),
      'is lost': () => {},
      'is throttled': () => respond(failure('ProvisionedThroughputExceededException', 'Too much.')),
      'arrives, but its response is lost': () => {
        execute();
        if (sender.isAlive) reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
      },
      'arrives, and fails afterwards': () => {
        execute();
        respond({ ...failure('InternalServerError', 'Why.'), status: 500 });
      },
      'arrives after two minutes': arriveLate,
      'arrives after two minutes, and its retries are lost': () => {
        outages.set(sender, world.now() + OUTAGE_MILLISECONDS);
        arriveLate();
      },
    };
    const possible = isWrite ? WRITE_FATES : READ_FATES;
    if (world.now() >= (outages.get(sender) ?? 0))
      world.post({ text, process: sender, fates: possible, deliver: (fate) => fates[fate]!() });
    // As long as it has listeners, a signal of AbortSignal.any stays in memory.
    return promise.finally(() => abortSignal?.removeEventListener('abort', abort));
  }

  const network = world.addProcess('network');
  world.setNetwork(send);
  for (const [name, { timeToLive, items }] of Object.entries(tables)) {
    if (timeToLive === undefined) continue;
    const expired = () =>
      [...items].filter(([, item]) => Number(item[timeToLive]?.N) * 1_000 < world.now()).map(([key]) => key);
    world.disturbances.push({
      text: `TTL deletes the expired items in ${name}`,
      isPossible: () => expired().length > 0,
      act: () => expired().forEach((key) => write(name, undefined, key)),
    });
  }

  return {
    changes,
    items: (name: string): Item[] => [...tables[name]!.items.values()],
    /** Makes all replicas contain all writes. */
    settle(): void {
      for (const { replicas } of Object.values(tables))
        for (const replica of Object.values(replicas).flat()) apply(replica, () => true);
    },
    /** Stores an item without a request, to prepare a table. */
    store: (name: string, item: Item) => write(name, item, keyOf(name, item)),
  };
}

function emptyTable(settings: TableSettings): Table {
  const replicas = Object.keys(settings.indexes ?? {}).map((name): [string, Replica[]] => [
    name,
    Array.from({ length: REPLICAS }, () => ({ items: new Map(), pending: [] })),
  ]);
  return { ...settings, items: new Map(), replicas: Object.fromEntries(replicas) };
}

/** Applies the pending changes that `isApplied` selects. An older change never replaces a newer one of the same item. */
function apply(replica: Replica, isApplied: (change: Change) => boolean): Replica {
  const applied = new Map<string, number>();
  for (const [position, change] of replica.pending.entries()) {
    if (!isApplied(change)) continue;
    applied.set(change.key, position);
    if (change.after) replica.items.set(change.key, change.after);
    else replica.items.delete(change.key);
  }
  replica.pending = replica.pending.filter(({ key }, position) => position > (applied.get(key) ?? -1));
  return replica;
}

function ok(body: object): Reply {
  return { status: 200, body };
}

function failure(exception: string, message: string): Reply {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${exception}`, message } };
}

const conditionFailed = failure('ConditionalCheckFailedException', 'The conditional request failed');

/** Parses the expressions of an input, and adds the results to the input under names that start with an underscore. */
function parse(input: any): any {
  const problem = validations.validateExpressions(input);
  if (problem) throw new Violation(`DynamoDB rejects a request: ${problem}`);
  return input;
}

function holds(input: any, item: Item | undefined): boolean {
  const { _condition: condition } = parse(input);
  return !condition || Boolean(dynalite.matchesExprFilter(item ?? {}, condition.expression));
}

/** Returns the attributes that an update sets. Call `holds` first, because it parses the update's expressions. */
function updatesOf({ _updates: updates }: any): Item {
  return Object.fromEntries(
    updates.sections.map(({ type, path, val }: any) => {
      if (type !== 'set' || path.length !== 1 || val.type)
        throw new Error('The simulation has only updates such as SET name = :value.');
      return [path[0], val];
    }),
  );
}

function compare(one: AttributeValue, other: AttributeValue): number {
  if (one.N !== undefined && other.N !== undefined) {
    const difference = BigInt(one.N) - BigInt(other.N);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  return one.S! < other.S! ? -1 : one.S! > other.S! ? 1 : 0;
}

/** Returns what a request is about, such as `books 5`. */
function subjectOf({ TableName, IndexName, Key, Item, RequestItems }: any): string {
  const key = Object.values((Key ?? Item ?? {}) as Item)[0];
  const name = TableName ?? Object.keys(RequestItems).join();
  return [name, IndexName, key?.N ?? key?.S?.slice(0, 12)].filter((part) => part).join(' ');
}
