import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { listIndexes } from '../../../shared/list-indexes.ts';
import { createPet, getPet, partitionKeyValue } from '../../../shared/storage/pets.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';
import { type NewItem, requiredInput, textField, validInput } from '../../support/sample.ts';

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '4' });

describe('createPet', () => {
  test.each<[string, NewItem]>([
    ['only required', requiredInput],
    ['all', validInput],
  ])('writes a pet with %s fields and the keys of its indexes in one call', async (_which, newPet) => {
    const indexes = listIndexes.filter(({ filters }) => filters.every((name) => name in newPet));
    const keys = indexes.map((one) => [one.partitionKey, partitionKeyValue(one.filters, newPet, '2')]);
    mock.on(PutCommand).resolves({});
    const pet = { id: 42n, ...newPet };
    expect(await createPet(newPet, undefined, () => 42n)).toEqual(pet);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
    expect(inputs()).toEqual([
      {
        TableName: 'pets',
        Item: { ...pet, ...Object.fromEntries(keys), creation: expect.stringMatching(/^\S{20,}$/) },
        ConditionExpression: 'attribute_not_exists(id)',
      },
    ]);
  });

  test('throws an UnavailableError after the first attempt if the id is taken but its pet is missing', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const error = { name: 'UnavailableError', message: 'The pet 42 is missing.' };
    await expect(createPet(requiredInput, undefined, () => 42n)).rejects.toMatchObject(error);
    expect(inputs()).toHaveLength(2);
  });

  test('throws an UnavailableError if other requests have taken 20 generated ids', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({ Item: { ...requiredInput, creation: 'another request' } });
    const error = { name: 'UnavailableError', message: 'The service could not assign an id.' };
    await expect(createPet(requiredInput)).rejects.toMatchObject(error);
    expect(mock.commandCalls(PutCommand)).toHaveLength(20);
  });
});

test('the partition key values of an index differ for different values of its filters', () => {
  const keys = ['a', 'a#3', 'a%3', '\u{1f415}', '', 'a'.repeat(101)].map((value) =>
    partitionKeyValue([textField, 'status'], { status: 'sold', [textField]: value }, '3'),
  );
  const hashed = expect.stringMatching(/^%[\da-f]{64}#\w+#3$/);
  expect(keys).toEqual([expect.stringMatching(/^a#\w+#3$/), hashed, hashed, hashed, hashed, hashed]);
  expect(new Set(keys).size).toBe(keys.length);
});

test('getPet uses a strongly consistent read and returns no storage attributes', async () => {
  const item = { id: 42n, ...requiredInput, creation: 'request', partition: '0' };
  mock
    .on(GetCommand)
    .resolvesOnce({ Item: item })
    .resolvesOnce({ Item: { ...item, status: 'sold', statusPartition: 'sold#0' } });
  expect(await getPet(42n)).toStrictEqual({ id: 42n, ...requiredInput });
  expect(await getPet(42n)).toStrictEqual({ id: 42n, ...requiredInput, status: 'sold' });
  const input = { TableName: 'pets', Key: { id: 42n }, ConsistentRead: true };
  expect(inputs()[0]).toEqual(input);
});
