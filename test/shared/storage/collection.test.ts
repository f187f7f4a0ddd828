import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { create, get } from '../../../shared/storage/collection.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';
import { petWithoutStatus, validPet } from '../../support/sample.ts';
import { type NewPet, pets } from '../../../shared/contract/pets.ts';

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '4' });

describe('create', () => {
  test.each<[string, NewPet, Record<string, string>]>([
    ['only required', petWithoutStatus, { partition: '2' }],
    ['all', { ...validPet, status: 'sold' }, { partition: '2', statusPartition: 'sold#2' }],
  ])('writes a pet with %s fields and the keys of its indexes in one call', async (_which, newPet, keys) => {
    mock.on(PutCommand).resolves({});
    const pet = { id: 42n, ...newPet };
    expect(await create(pets, newPet, undefined, () => 42n)).toEqual(pet);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
    const [{ Item, ...put }, ...others] = inputs();
    expect(Item).toMatchObject({ ...pet, ...keys, creation: expect.stringMatching(/^\S{20,}$/) });
    expect('statusPartition' in Item).toBe('status' in newPet);
    expect(put).toEqual({ TableName: 'pets', ConditionExpression: 'attribute_not_exists(id)' });
    expect(others).toEqual([]);
  });

  test('throws an UnavailableError after the first attempt if the id is taken but its pet is missing', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const error = { name: 'UnavailableError', message: 'The pet 42 is missing.' };
    await expect(create(pets, petWithoutStatus, undefined, () => 42n)).rejects.toMatchObject(error);
    expect(inputs()).toHaveLength(2);
  });

  test('throws an UnavailableError if other requests have taken 20 generated ids', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({ Item: { ...petWithoutStatus, creation: 'another request' } });
    const error = { name: 'UnavailableError', message: 'The service could not assign an id.' };
    await expect(create(pets, petWithoutStatus)).rejects.toMatchObject(error);
    expect(mock.commandCalls(PutCommand)).toHaveLength(20);
  });
});

test('get uses a strongly consistent read and returns no storage attributes', async () => {
  const pet = { id: 42n, ...petWithoutStatus, creation: 'request', partition: '0' };
  mock
    .on(GetCommand)
    .resolvesOnce({ Item: pet })
    .resolvesOnce({ Item: { ...pet, status: 'sold', statusPartition: 'sold#0' } });
  expect(await get(pets, 42n)).toStrictEqual({ id: 42n, ...petWithoutStatus });
  expect(await get(pets, 42n)).toStrictEqual({ id: 42n, ...petWithoutStatus, status: 'sold' });
  const input = { TableName: 'pets', Key: { id: 42n }, ConsistentRead: true };
  expect(inputs()[0]).toEqual(input);
});
