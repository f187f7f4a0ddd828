import { describe, expect, test } from '@jest/globals';
import { encodeCursor } from '../../shared/contract/cursor.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { baseUrl, expectError, expectSuccess, nextLink, request } from '../support/client.ts';
import { addItem, addItems, listAddress, untilListed, walk } from '../support/resources.ts';
import { type Item, itemsPath, validBody } from '../support/sample.ts';
import { filterQueries, listParameters, variants } from '../support/variants.ts';

const MOSTLY_INVALID = ['', 'nonsense', '0', '5.0', '%205', '%zz', '%00', PAGE.maximum + 1];
const CURSOR_MESSAGE = 'cursor must be from a page of this list, or omitted.';
const allFilters = filterQueries[0]!;

// There are enough items for the longest page, so that only `limit` determines the length of a page.
const older = await addItems(PAGE.maximum);
const { id: oldest } = await addItem();
/** Items newer than `oldest`: one for each of `variants`, and three for each of `filterQueries`. */
const recent: Item[] = [];
for (const input of variants) recent.push(await addItem(input));
for (const query of filterQueries) recent.push(...(await addItems(3, { ...validBody, ...query })));
await untilListed([...older, ...recent]);
for (const query of filterQueries) await untilListed(recent.filter(matches(query)), query);

describe('a list request', () => {
  test.each([
    ['', PAGE.default],
    ['?limit=1', 1],
    [`?limit=${PAGE.maximum}`, PAGE.maximum],
    ['?%6Cimit=%33', 3],
    // These queries contain unknown parameters, which the service must ignore.
    ['?limit=3&limit[]=0&LIMIT=0&Status=lost&offset=-1', 3],
    ['?limit=3&color=%zz&=&&%=%', 3],
  ])('with the query %p gets %d items', async (query, limit) => {
    const response = await request(`${itemsPath}${query}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.body).toHaveLength(limit);
  });

  // `request` compares the status with openapi.json, so this test checks only the messages.
  describe.each(listParameters)('gets a 400 if and only if openapi.json does not allow the %s', (name) => {
    const { [name]: value = 5, ...others } = filterQueries.find((query) => name in query) ?? {};
    const changed = [`${value}`.toUpperCase(), `${value},${value}`, `${value}&${name}=${value}`];
    test.each([...MOSTLY_INVALID, ...changed])('%p', async (text) => {
      // For a cursor, openapi.json contains only a pattern. None of these cursors is from a page.
      const isCursor = name === 'cursor';
      const init = { mayBeRejected: isCursor };
      const response = await request(`${listAddress(others)}&${name}=${text}`, init);
      const message = expect.stringMatching(`^${name} must be [^;]+\\.$`);
      if (isCursor || response.status !== 200) expectError(response, 'invalid_request', message);
    });
  });

  test.each<[string, (link: string) => string]>([
    ['is empty', (link) => link.replace(/(?<=cursor=).*/, '')],
    ['lacks its last character', (link) => link.slice(0, -1)],
    ['has padding', (link) => `${link}%3D`],
    ['has an additional character', (link) => `${link}A`],
  ])('gets a 400 if the cursor %s', async (_case, change) => {
    const link = nextLink(await request(listAddress({ limit: 1, ...allFilters })))!;
    const response = await request(change(link), { mayBeRejected: true });
    expectError(response, 'invalid_request', CURSOR_MESSAGE);
  });

  test.each(['', '/', '?color=red'])('gets a link that omits unknown parameters (%p)', async (query) => {
    const link = nextLink(await request(`${itemsPath}${query}`))!;
    expect(link.replace(/[\w-]+$/, '')).toBe(`${baseUrl}${itemsPath}?limit=${PAGE.default}&cursor=`);
  });
});

describe('the pages of a list', () => {
  test.each([1, 2, 5, PAGE.maximum])('contain every item once if the limit is %d', async (limit) => {
    expectOnce(await walk(listAddress({ limit }), oldest), recent);
  });

  test.each(filterQueries)('contain every matching item once if the query is %p', async (query) => {
    const items = await walk(listAddress({ ...query, limit: 2 }), oldest);
    expectOnce(items, recent.filter(matches(query)));
    expect(items.filter((item) => !matches(query)(item))).toEqual([]);
  });

  test.each([1, 2])('after the third-last item contain the last two items (limit %d)', async (limit) => {
    const items = await walk(listAddress({ ...allFilters, limit: PAGE.maximum }), 0n);
    const cursor = encodeCursor(items.at(-3)!.id, allFilters);
    expect(await walk(listAddress({ ...allFilters, limit, cursor }), 0n)).toEqual(items.slice(-2));
  });

  test.each([{}, allFilters])(
    'contain every matching item once while items are added (%p)',
    async (query) => {
      const walked = new AbortController();
      async function keepAdding(): Promise<void> {
        while (!walked.signal.aborted) await addItem({ ...validBody, ...query });
      }
      const walking = walk(listAddress({ ...query, limit: 1 }), oldest).finally(() => walked.abort());
      const [items] = await Promise.all([walking, keepAdding(), keepAdding()]);
      expectOnce(items, recent.filter(matches(query)));
    },
  );
});

function matches(query: object): (item: Item) => boolean {
  return (item) => Object.entries(query).every(([name, value]) => item[name as keyof Item] === value);
}

/** Expects that `items` include all `known` items, have descending ids and contain no duplicates. */
function expectOnce(items: Item[], known: Item[]): void {
  const ids = items.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1)));
  expect(items).toEqual(expect.arrayContaining(known));
}
