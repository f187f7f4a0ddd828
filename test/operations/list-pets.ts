import { PAGE } from '../../shared/contract/limits.ts';
import type { OperationTests } from '../support/operation-tests.ts';

export const tests: OperationTests = {
  permissions: {
    actions: ['dynamodb:Query'],
    resources: ['${StoragePets.Arn}/index/newest', '${StoragePets.Arn}/index/newest-by-status'],
  },
  responses: {
    200: async (send, { examples, responses }) => {
      const [newest, next] = responses.get('listPets 200')!.example as { id: number }[];
      for (const { id: _id, ...body } of [next!, next!, newest!])
        await send({ method: 'POST', target: '/v1/pets', body: JSON.stringify(body) });
      const { target } = examples.listPets;
      const first = { target: target.replace(/&cursor=.*/, '') };
      const complete = { target: `/v1/pets?limit=${PAGE.maximum}` };
      return [await send(first), await send({ target }), await send(complete)];
    },
    400: (send) => send({ target: '/v1/pets?limit=0&status=nonsense' }),
  },
  markedRequests: ({ query }) => [
    { status: 200 },
    { status: 400, query: { limit: query } },
    { status: 400, query: { cursor: query } },
  ],
};
