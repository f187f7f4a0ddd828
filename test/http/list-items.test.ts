import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { collectionTests } from '../collections/all.ts';
import { expectError, expectSuccess, nextLink, post, publicBaseUrl, request } from '../support/client.ts';
import { type CollectionTests, type NewItem, variantOf } from '../support/collection-tests.ts';
import { addItem, addItems, listAddress, type StoredItem, untilListed, walk } from '../support/items.ts';

type Query = Record<string, string>;

/** A list with or without a filter. */
interface List {
  path: string;
  query: Query;
  /** Fields of an item in the list. */
  fields: NewItem;
}

const prepared: Awaited<ReturnType<typeof prepare>>[] = [];
// The collections are prepared one after the other, because some AWS accounts allow few concurrent executions of functions.
for (const collection of Object.values(collectionTests)) prepared.push(await prepare(collection));

/** Adds items, and waits until the lists contain them. Returns the lists, and the added items newer than `oldest`. */
async function prepare(collection: CollectionTests) {
  const { path, filters } = collection;
  // There are enough items for the longest page, so that only `limit` determines the length of a page.
  const older = await addItems(collection, 100);
  const { id: oldest } = await addItem(collection);
  const recent = await addItems(collection, 3);
  for (const fields of filters.flatMap(({ contains, omits }) => [contains, ...omits]))
    recent.push(...(await addItems(collection, 3, fields)));
  await untilListed(collection, [...older, ...recent]);
  const lists = listsOf(collection);
  for (const { query } of lists) await untilListed(collection, recent.filter(matches(query)), query);
  return { path, collection, lists, oldest, recent };
}

/** Returns the list without a filter, and for each filter, a list for each value in the collection's tests. */
function listsOf({ path, filters }: CollectionTests): List[] {
  const filtered = filters.flatMap(({ query, contains, omits }) => {
    const names = Object.keys(query);
    return [contains, ...omits]
      .filter((fields) => names.every((name) => fields[name] !== undefined))
      .map((fields) => ({
        path,
        fields,
        query: Object.fromEntries(names.map((name) => [name, String(fields[name])])),
      }));
  });
  return [{ path, query: {}, fields: {} }, ...filtered];
}

describe.each(prepared)('GET $path', ({ path, collection, lists }) => {
  test.each([
    ['', 20],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?%6Cimit=%33', 3],
  ])('with the query %p returns a page of the length %d', async (query, limit) => {
    const response = await request(`${path}${query}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.body).toHaveLength(limit);
  });

  describe.each([
    [
      'limit',
      'limit must be a single integer from 1 to 100 in decimal digits, without leading zeros, or omitted.',
      ['', 'x', '0', '-1', '101', '5.0', '05', '%205', '1e1', '%zz', '%00', '5,5', '5&limit=5'],
    ],
    [
      'cursor',
      'cursor must be unchanged from the Link header of a page, or omitted.',
      ['', 'x', '0', '5', '%205', 'NQ==', '%zz', '%00', 'x,x', 'x'.repeat(12), 'AAAAAAAAAAA', 'x&cursor=x'],
    ],
  ])('rejects an invalid %s with the message "%s"', (name, message, values) => {
    test.each(values)('if it is %p', async (value) => {
      // openapi.json describes only the length of cursors, so the service may reject requests that openapi.json allows.
      const init = { mayBeRejected: name === 'cursor' };
      expectError(await request(`${path}?${name}=${value}`, init), 400, 'invalid_request', message);
    });
  });

  test.each<[string, (link: string) => string]>([
    ['is empty', (link) => link.replace(/(?<=cursor=).*/, '')],
    ['lacks its last character', (link) => link.slice(0, -1)],
    ['has padding', (link) => `${link}%3D`],
    ['has an additional character', (link) => `${link}A`],
  ])('returns a 400 if the cursor %s', async (_case, change) => {
    const link = nextLink(await request(`${path}?limit=1`))!;
    const response = await request(change(link), { mayBeRejected: true });
    expectError(response, 400, 'invalid_request', expect.stringContaining('cursor'));
  });

  test.each(lists)('accepts the cursors of other lists as positions ($query)', async (list) => {
    for (const other of prepared.flatMap((one) => one.lists)) {
      const link = nextLink(await request(listAddress(other.path, { ...other.query, limit: 1 })))!;
      const cursor = new URL(link).searchParams.get('cursor')!;
      const response = await request(listAddress(path, { ...list.query, cursor }));
      expectSuccess(response, 200);
      const position = Buffer.from(cursor, 'base64url').readBigInt64BE();
      expect(response.body.every(({ id }: StoredItem) => id < position)).toBe(true);
    }
  });

  test.each(['', '/'])('links to the next page (%p)', async (end) => {
    const link = nextLink(await request(`${path}${end}`))!;
    expect(link).toMatch(/cursor=[\w-]{11}$/);
    expect(link.replace(/[\w-]+$/, '')).toBe(`${publicBaseUrl}${path}?limit=20&cursor=`);
  });

  // Some HTTP libraries send a filter in a different spelling. If the service ignored it, the list would be wrong.
  test.each(['limit[]=5', 'LIMIT=5', 'limits=5', 'unknown=%zz', '=', 'limit=5&offset=0'])(
    'returns a 400 for the unknown parameter in %p',
    async (query) => {
      const response = await request(`${path}?${query}`);
      const message = expect.stringMatching(/^unknown query parameters: ".*" \(known: limit, .*cursor\)\.$/);
      expectError(response, 400, 'invalid_request', message);
    },
  );

  test.each(lists)(
    'returns an item exactly as the create operation did ($query)',
    async ({ query, fields }) => {
      const item = variantOf(collection.newItem(randomUUID()), fields);
      const created = await post(path, item, { 'Idempotency-Key': randomUUID() });
      await untilListed(collection, [created.body], query);
      const page = await request(listAddress(path, { ...query, limit: 100 }));
      expect(page.text).toContain(created.text);
    },
  );
});

const filtered = Object.values(collectionTests).flatMap((collection) =>
  collection.filters.map((filter) => ({ collection, path: collection.path, ...filter })),
);

test.each(filtered)('GET $path with the filter $query omits other items', async (filter) => {
  const { collection, query, contains, omits } = filter;
  const others: StoredItem[] = [];
  for (const fields of omits) others.push(await addItem(collection, fields));
  const wanted = await addItem(collection, contains);
  await untilListed(collection, [...others, wanted]);
  await untilListed(collection, [wanted], query);
  const listed = await walk(listAddress(collection.path, { ...query, limit: 100 }), others[0]!.id);
  expect(listed.filter(({ id }) => others.some((other) => other.id === id))).toEqual([]);
});

describe.each(prepared)('the pages of GET $path', ({ path, collection, lists, oldest, recent }) => {
  test.each([1, 2, 5, 100])('contain every item once if the limit is %d', async (limit) => {
    expectOnce(await walk(listAddress(path, { limit }), oldest), recent);
  });

  test.each(lists)('contain every matching item once if the filter is $query', async ({ query }) => {
    const items = await walk(listAddress(path, { ...query, limit: 2 }), oldest);
    expectOnce(items, recent.filter(matches(query)));
    expect(items.filter((item) => !matches(query)(item))).toEqual([]);
  });

  test.each([1, 2])('end with the oldest item if the limit of the last pages is %d', async (limit) => {
    // The walk starts at a cursor, because other test files add items to the first page. It uses a filtered list if the
    // collection has one, because such a list is shorter.
    const { query } = lists[1] ?? lists[0]!;
    let link = nextLink(await request(listAddress(path, { limit: 1, ...query })))!;
    const items = await walk(withLimit(link, 100), 0n);
    for (let left = items.length - 2; left > 0; left -= 100)
      link = nextLink(await request(withLimit(link, Math.min(left, 100))))!;
    expect(await walk(withLimit(link, limit), 0n)).toEqual(items.slice(-2));
  });

  test.each(lists)(
    'contain every matching item once while items are added ($query)',
    async ({ query, fields }) => {
      const walked = new AbortController();
      async function keepAdding(): Promise<void> {
        while (!walked.signal.aborted) await addItem(collection, fields);
      }
      const walking = walk(listAddress(path, { ...query, limit: 1 }), oldest).finally(() => walked.abort());
      const [items] = await Promise.all([walking, keepAdding(), keepAdding()]);
      expectOnce(items, recent.filter(matches(query)));
    },
  );
});

/** Returns a predicate for the items that have the values in the query of a filtered list. */
function matches(query: Query): (item: StoredItem) => boolean {
  return (item) => Object.entries(query).every(([name, value]) => String(item[name]) === value);
}

function withLimit(link: string, limit: number): string {
  return link.replace(/(?<=limit=)\d+/, `${limit}`);
}

/** Expects that `items` include all `known` items, have descending ids and contain no duplicates. */
function expectOnce(items: StoredItem[], known: StoredItem[]): void {
  const ids = items.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1)));
  expect(items).toEqual(expect.arrayContaining(known));
}
