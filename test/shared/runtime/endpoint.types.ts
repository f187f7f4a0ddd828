import { endpoint } from '../../../shared/runtime/endpoint.ts';
import { books } from '../../support/books.ts';

const { create, get } = books.operations;

// `npm run check` compiles these calls. The command fails if a call that follows `@ts-expect-error` compiles.

const { id: _, ...withoutId } = {} as Awaited<ReturnType<Parameters<typeof endpoint<typeof get>>[1]>>['body'];

endpoint(get, async ({ fail }) => fail('not_found', 'A message'));
endpoint(get, async ({ fail }) => fail('service_unavailable'));
// @ts-expect-error The operation does not declare this code.
endpoint(get, async ({ fail }) => fail('idempotency_key_reused'));
endpoint(create, async ({ fail }) => fail('idempotency_key_reused'));
// @ts-expect-error No operation declares this code.
endpoint(create, async ({ fail }) => fail('no_such_code'));

// @ts-expect-error Requests for this operation have no body.
endpoint(get, async ({ body }) => ({ body }));
// @ts-expect-error Responses of this operation must have a body.
endpoint(get, async () => ({}));
// @ts-expect-error The body lacks a required field.
endpoint(get, async () => ({ body: withoutId }));

const withoutBody = { ...get, success: { status: 204, description: '' } } as const;
endpoint(withoutBody, async () => ({}));
// @ts-expect-error Responses of this operation must not have a body.
endpoint(withoutBody, async ({ path }) => ({ body: path }));
