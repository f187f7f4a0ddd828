import { operations } from '../../shared/contract/operations.ts';
import type { OperationTests } from '../support/operation-tests.ts';

const targetOf = (id: string): string => operations.getPet.path.replace('{petId}', id);

export const tests: OperationTests = {
  permissions: 'dynamodb:GetItem on ${StoragePets.Arn}',
  responses: {
    200: async (send, { examples }) => {
      const { response } = await send(examples.createPet);
      return send({ target: targetOf(JSON.parse(response.text).id) });
    },
    404: (send) => send({ target: targetOf('244141843387958') }),
  },
  markedRequests: () => [{ status: 200 }, { status: 404, pathParameters: { petId: 'none' } }],
};
