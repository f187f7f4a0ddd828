import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { tablesIn } from '../../infra/local/data-folder.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { type Database, startDatabase } from '../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/dynamodb/store.ts';
import { database } from '../../shared/storage/database.ts';
import { createPet, getPet, listPets } from '../../shared/storage/pets.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { setFunctionsEnvironment } from '../support/real-database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pageOf, petOf, seedPets } from './growth-pets.ts';

jest.setTimeout(120_000); // for a synthesis on a busy machine

const PETS = 70;
const PARTITIONS = 4;

const folder = temporaryFolder();
let tables: Database;

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  const template = readTemplate('staging', assembly);
  await seedPets(folder, template, { pets: PETS, partitions: PARTITIONS });
  tables = await startDatabase({
    store: await openStore(tablesIn(folder)),
    tables: template.resources('AWS::DynamoDB::GlobalTable'),
    isAllowed: () => true,
  });
  setFunctionsEnvironment(template, tables.endpoint);
  process.env['LIST_PARTITIONS'] = PARTITIONS.toString();
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  database.destroy();
  await tables.close();
});

async function walk(limit: number, status?: PetStatus): Promise<Pet[][]> {
  const pages: Pet[][] = [];
  let cursor: bigint | undefined;
  do {
    const { pets, next } = await listPets({ limit, ...(status && { status }), ...(cursor && { cursor }) });
    pages.push(pets);
    cursor = next;
  } while (cursor !== undefined);
  return pages;
}

test.each<[status: PetStatus | undefined, pets: number]>([
  [undefined, 70],
  ['available', 42],
  ['sold', 14],
])('seeded pets are listed by the status %s as the benchmark expects each page', async (status, pets) => {
  const pages = await walk(5, status);
  expect(pages.flat()).toHaveLength(pets);
  expect(pages).toEqual(pages.map((_, index) => pageOf(PETS, index + 1, 5, status)));
});

test('each seeded pet is there under its identifier', async () => {
  const pets = pageOf(PETS, 1, PETS);
  expect(await Promise.all(pets.map(({ id }) => getPet(id)))).toEqual(pets);
});

test.each([0, 4])('seeded pet %d is stored as a create would have stored it', async (index) => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true); // a line of the metric for each create
  const seeded = petOf(index, PETS);
  const { id: _, ...newPet } = seeded;
  // Another one under the same keys of the indexes.
  const created = await createPet(newPet, () => seeded.id + BigInt(PARTITIONS * 1_000));

  const [one, other] = await Promise.all([seeded, created].map(({ id }) => storedItem(id)));
  expect(one).toEqual({ ...other, id: seeded.id, creation: expect.stringMatching(/^[\da-f-]{36}$/) });
});

async function storedItem(id: bigint): Promise<Record<string, unknown> | undefined> {
  const { Item } = await database.send(new GetCommand({ TableName: process.env['PETS_TABLE'], Key: { id } }));
  return Item;
}
