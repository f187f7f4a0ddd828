import { operations } from '../../../shared/contract/operations.ts';
import { endpoint } from '../../../shared/runtime/endpoint.ts';

// `npm run check` compiles these calls. It fails if a call with an expected error compiles.

const { createPet, getPet } = operations;
const { id: _, ...withoutId } = {} as Awaited<
  ReturnType<Parameters<typeof endpoint<typeof getPet>>[1]>
>['body'];

endpoint(getPet, async ({ fail }) => fail('not_found', 'A message'));
endpoint(getPet, async ({ fail }) => fail('service_unavailable'));
// @ts-expect-error The operation does not declare this code.
endpoint(getPet, async ({ fail }) => fail('idempotency_key_reused'));
endpoint(createPet, async ({ fail }) => fail('idempotency_key_reused'));
// @ts-expect-error No operation declares this code.
endpoint(createPet, async ({ fail }) => fail('conflict'));

// @ts-expect-error The operation has no body in its request.
endpoint(getPet, async ({ body }) => ({ body }));
// @ts-expect-error The response has a body.
endpoint(getPet, async () => ({}));
// @ts-expect-error The body lacks a required field.
endpoint(getPet, async () => ({ body: withoutId }));

const withoutBody = { ...getPet, success: { status: 204, description: '' } } as const;
endpoint(withoutBody, async () => ({}));
// @ts-expect-error The response has no body.
endpoint(withoutBody, async ({ path }) => ({ body: path }));
