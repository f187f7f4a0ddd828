import {
  type CollectionTests,
  createResponses,
  getResponses,
  listResponses,
  markedCreates,
  markedGets,
  markedLists,
} from '../support/collection-tests.ts';

const basics = {
  path: '/pets',
  newItem: (name: string, categoryId = 7n) => ({ name, categoryId, status: 'available' }),
  invalid: {
    item: {},
    message:
      'name is required, and must be a string of 1 to 255 characters that are not all white space or control characters, without U+FFFD and unpaired surrogates; ' +
      'categoryId is required, and must be an integer from -9223372036854775808 to 9223372036854775807, as a JSON number.',
  },
};

export const pets: CollectionTests = {
  ...basics,
  table: {
    logicalId: 'StoragePets3FCA436D',
    keys: [
      'StoragePets table: HASH id N',
      'StoragePets newest: HASH list S, RANGE id N',
      'StoragePets newest-by-status: HASH status S, RANGE id N',
    ],
  },
  variants: [{ status: 'pending' }, { status: 'sold' }, { status: undefined }, { categoryId: -(2n ** 63n) }],
  filters: [
    {
      query: { status: 'sold' },
      contains: { status: 'sold' },
      omits: [{ status: 'available' }, { status: 'pending' }, { status: undefined }],
    },
  ],
  operations: {
    listPets: {
      route: 'GET/v1/pets',
      permissions: {
        actions: ['dynamodb:Query'],
        resources: ['${StoragePets.Arn}/index/newest', '${StoragePets.Arn}/index/newest-by-status'],
      },
      responses: {
        ...listResponses('listPets', 'createPet'),
        400: (send) => send({ target: '/v1/pets?limit=0&status=nonsense' }),
      },
      markedRequests: markedLists,
    },
    createPet: {
      route: 'POST/v1/pets',
      permissions: {
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        resources: ['${StoragePets.Arn}', '${StorageIdempotencyRecords.Arn}'],
      },
      responses: createResponses('createPet', basics),
      markedRequests: markedCreates(basics),
    },
    getPet: {
      route: 'GET/v1/pets/*',
      permissions: { actions: ['dynamodb:GetItem'], resources: ['${StoragePets.Arn}'] },
      responses: getResponses(basics, 'createPet'),
      markedRequests: markedGets('petId'),
    },
  },
};
