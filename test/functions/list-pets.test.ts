import { beforeEach, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/list-pets.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { toPet } from '../../shared/storage/pets.ts';
import { apiGatewayEvent, listEvent, STAGE_DOMAIN } from '../support/api-gateway-event.ts';
import { invoke } from '../support/invoke.ts';
import { logLines, occurrences } from '../support/log-lines.ts';
import { mock, setEnvironment } from '../support/mocked-database.ts';
import { indexedPet, serveIndexes } from '../support/pet-indexes.ts';
import { collection } from '../support/sample.ts';

const sold = Array.from({ length: 45 }, (_, index) => indexedPet(BigInt(2 * index + 1), { status: 'sold' }));
const others = Array.from({ length: 45 }, (_, index) => indexedPet(BigInt(2 * index + 2)));

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });
beforeEach(() => {
  serveIndexes(mock, [...sold, ...others]);
});

function nextQuery(link: unknown): Record<string, string[]> {
  const [, address = ''] = /^<([^>]+)>; rel="next"$/.exec(String(link)) ?? [];
  const url = new URL(address);
  expect(`${url.origin}${url.pathname}`).toBe(`https://${STAGE_DOMAIN}/staging${collection}`);
  return Object.fromEntries([...url.searchParams].map(([name, value]) => [name, [value]]));
}

describe('GET /v1/pets', () => {
  test('returns 200 with an array of the newest pets and a link', async () => {
    const { status, headers, body } = await invoke(handler, apiGatewayEvent());
    expect(status).toBe(200);
    expect(body.map(({ id }: { id: bigint }) => id)).toEqual(
      Array.from({ length: PAGE.default }, (_, index) => BigInt(90 - index)),
    );
    expect(body[1]).toEqual(toPet(sold.at(-1)!));
    expect(nextQuery(headers['Link'])).toEqual({ limit: [`${PAGE.default}`], cursor: [expect.any(String)] });
    expect([logLines(), occurrences()]).toEqual([[], []]);
  });

  test('links to each next page with the same limit and status', async () => {
    const ids: bigint[] = [];
    const queries: Record<string, string[]>[] = [{ limit: ['15'], status: ['sold'] }];
    for (const query of queries) {
      const { body, headers } = await invoke(handler, listEvent(query));
      ids.push(...body.map(({ id }: { id: bigint }) => id));
      if ('Link' in headers) queries.push(nextQuery(headers['Link']));
    }
    const next = { limit: ['15'], status: ['sold'], cursor: [expect.any(String)] };
    expect(queries.slice(1)).toEqual([next, next]);
    expect(ids).toEqual(sold.map(({ id }) => id).toReversed());
  });

  test('returns an empty array without a link if there are no pets', async () => {
    const { status, headers, text } = await invoke(handler, listEvent({ status: ['pending'] }));
    expect([status, text]).toEqual([200, '[]']);
    expect(headers).not.toHaveProperty('Link');
  });
});
