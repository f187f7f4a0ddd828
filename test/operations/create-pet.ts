import { stringifyJson } from '../../shared/contract/json.ts';
import { MAX_BODY_BYTES } from '../../shared/contract/limits.ts';
import type { OperationTests } from '../support/operation-tests.ts';
import { validPet, validBody } from '../support/sample.ts';

const post = { method: 'POST', target: '/v1/pets' };

export const tests: OperationTests = {
  permissions: {
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    resources: ['${StoragePets.Arn}', '${StorageIdempotencyRecords.Arn}'],
  },
  responses: {
    201: (send, { examples }) => send(examples.createPet),
    400: (send) => send({ ...post, body: '{"categoryId":"7"}' }),
    413: (send) => send({ ...post, body: ' '.repeat(MAX_BODY_BYTES + 1) }),
    415: (send) => send({ ...post, headers: { 'Content-Type': 'text/plain' } }),
    422: async (send, { examples }) => {
      await send(examples.createPet);
      return send({ ...examples.createPet, body: JSON.stringify({ ...validBody, name: 'Mia' }) });
    },
  },
  markedRequests({ name, categoryId, unknownField, header, idempotencyKey, key, otherKey }) {
    const bodyOf = (value: string) =>
      stringifyJson({ ...validPet, name: value, categoryId: BigInt(categoryId), note: unknownField });
    const body = bodyOf(name);
    const wrongBodies = [
      '',
      name,
      body.slice(0, -20),
      `["${name}"]`,
      `${'['.repeat(30_000)}"${name}"`,
      `{"name":${categoryId},"categoryId":"${name}","status":"${unknownField}"}`,
      `{"${key}":"${name}","status":"${otherKey}"}`,
    ];
    const withKey = (value: string) => ({ body, headers: { 'Idempotency-Key': value } });
    return [
      { status: 201, body },
      { status: 201, ...withKey(idempotencyKey) },
      { status: 422, ...withKey(idempotencyKey), body: bodyOf(unknownField) },
      { status: 400, ...withKey(`"${idempotencyKey}`) },
      { status: 400, ...withKey(idempotencyKey.repeat(11)) },
      ...wrongBodies.map((wrongBody) => ({ status: 400, body: wrongBody })),
      { status: 413, body: bodyOf(name.repeat(3_000)) },
      { status: 415, body, headers: { 'Content-Type': `text/${header}` } },
    ];
  },
};
