import type { OperationTests } from '../support/operation-tests.ts';

export const tests: OperationTests = {
  permissions: { actions: ['dynamodb:GetItem'], resources: ['${StoragePets.Arn}'] },
  responses: {
    200: async (send, { examples }) => {
      const { response } = await send(examples.createPet);
      return send({ target: `/v1/pets/${JSON.parse(response.text).id}` });
    },
    404: (send) => send({ target: '/v1/pets/244141843387958' }),
  },
  markedRequests: () => [{ status: 200 }, { status: 404, pathParameters: { petId: 'none' } }],
};
