import * as fc from 'fast-check';
import { apiGatewayEvent } from '../support/api-gateway-event.ts';
import { anyBody } from './bodies.ts';

export const anyFunction = fc.constantFrom('CreatePet', 'ListPets', 'GetPet');

const anyText = fc.oneof(
  fc.string({ unit: fc.nat(0xff_ff).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('', '__proto__', '5', 'limit', 'status', 'cursor', 'petId'),
  fc.constantFrom('Content-Type', 'idempotency-key'),
);
const anyMap = fc.option(fc.dictionary(anyText, anyText), { freq: 4 });
const anyMultiMap = fc.option(fc.dictionary(anyText, fc.array(anyText, { maxLength: 3 })), { freq: 4 });

/** Event whose fields have valid types but can contradict each other. */
export const anyEvent = fc
  .record({
    headers: anyMap,
    multiValueHeaders: anyMultiMap,
    queryStringParameters: anyMap,
    multiValueQueryStringParameters: anyMultiMap,
    pathParameters: anyMap,
    body: fc.option(
      fc.oneof(
        anyText,
        anyBody.map(({ bytes }) => bytes.toString()),
      ),
      { freq: 4 },
    ),
    isBase64Encoded: fc.boolean(),
    requestContext: fc.constant({ authorizer: { keyId: 'key_2' } }),
  })
  .map((parts) => apiGatewayEvent(parts as Parameters<typeof apiGatewayEvent>[0]));
