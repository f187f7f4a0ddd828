import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as fc from 'fast-check';
import { multiValues, orNull } from '../../infra/local/emulator/gateway/proxy-event.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { apiGatewayEvent } from '../support/api-gateway-event.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { invoke } from '../support/invoke.ts';
import { anyBody } from './bodies.ts';
import { type ApiResponse, checkResponse, readPet } from './responses.ts';
import { check, checkCreated, type State, type Request } from './checks.ts';
import { count, type Generated, type Target } from './fuzz.ts';
import { letterCase, otherHeaders, type Pairs } from './headers.ts';
import { anyCase, type Case } from './requests.ts';

// Calls the functions in this process with API Gateway events (payload format 1.0). The functions use a real database.

type Input =
  | { testCase: Case; style: EventStyle }
  | { functionName: FunctionName; event: APIGatewayProxyEvent };
type FunctionName = 'CreatePet' | 'ListPets' | 'GetPet';

/** Variations of an event that must not change the response. */
const eventStyle = fc.record({
  headers: otherHeaders,
  rename: letterCase,
  isBase64Encoded: fc.boolean(),
  isStageOmitted: fc.boolean(), // A custom domain omits the stage from the path.
});
type EventStyle = Generated<typeof eventStyle>;

const anyText = fc.oneof(
  fc.string({ unit: fc.nat(0xff_ff).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('', '__proto__', '5', 'limit', 'status', 'cursor', 'petId'),
  fc.constantFrom('Content-Type', 'idempotency-key'),
);
const anyBodyText = anyBody.map(({ bytes }) => bytes.toString());
const anyMap = fc.option(fc.dictionary(anyText, anyText), { freq: 4 });
const anyMultiMap = fc.option(fc.dictionary(anyText, fc.array(anyText, { maxLength: 3 })), { freq: 4 });

/** Event whose fields have valid types but can contradict each other. */
const anyEvent = fc
  .record({
    headers: anyMap,
    multiValueHeaders: anyMultiMap,
    queryStringParameters: anyMap,
    multiValueQueryStringParameters: anyMultiMap,
    pathParameters: anyMap,
    body: fc.option(fc.oneof(anyText, anyBodyText), { freq: 4 }),
    isBase64Encoded: fc.boolean(),
    requestContext: fc.constant({ authorizer: { keyId: 'key_2' } }),
  })
  .map((parts) => apiGatewayEvent(parts as Parameters<typeof apiGatewayEvent>[0]));

const input: fc.Arbitrary<Input> = fc.oneof(
  { arbitrary: fc.record({ testCase: anyCase, style: eventStyle }), weight: 4 },
  {
    arbitrary: fc.record({
      functionName: fc.constantFrom<FunctionName[]>('CreatePet', 'ListPets', 'GetPet'),
      event: anyEvent,
    }),
    weight: 1,
  },
);

/** @param assembly folder of the cloud assembly */
export async function startFunctionsTarget(assembly: string): Promise<Target<Input>> {
  const service = await startFaultyService(readTemplate('PetStore-staging', assembly));
  const state: State = { pets: [], creations: new Map() };
  const outcomes: Record<string, number> = {};

  async function call(functionName: FunctionName, event: APIGatewayProxyEvent): Promise<ApiResponse> {
    const { status, headers, text } = await invoke(service.handlers[functionName]!, event);
    const response = { status, headers: new Headers(headers as Record<string, string>), text };
    count(outcomes, functionName, response);
    return response;
  }
  const sendAs = (style: Partial<EventStyle>) => (request: Request) =>
    call(functionOf(request), eventOf(request, style));

  return {
    name: 'functions',
    input,
    async check(generated) {
      if ('testCase' in generated) return check(generated.testCase, sendAs(generated.style), state);
      const response = await call(generated.functionName, generated.event);
      checkResponse(response, 'any');
      if (response.status === 201) await checkCreated(readPet(response.text), sendAs({}), state);
    },
    outcomes,
    printed: () => '',
    close: () => service.close(),
  };
}

function functionOf({ method, path }: Request): FunctionName {
  if (method === 'POST') return 'CreatePet';
  return path === '/v1/pets' ? 'ListPets' : 'GetPet';
}

function eventOf(
  { method, path, query, headers, body }: Request,
  {
    headers: others = [],
    rename = (name) => name,
    isBase64Encoded = false,
    isStageOmitted,
  }: Partial<EventStyle>,
): APIGatewayProxyEvent {
  const sent = [...others, ...headers].map(([name, value]): Pairs[0] => [rename(name), value]);
  const petId = path.split('/')[3];
  return apiGatewayEvent({
    httpMethod: method,
    path,
    pathParameters: petId === undefined ? null : { petId },
    headers: orNull(Object.fromEntries(sent)),
    multiValueHeaders: orNull(multiValues(sent)),
    queryStringParameters: orNull(Object.fromEntries(query)),
    multiValueQueryStringParameters: orNull(multiValues(query)),
    body: body ? body.toString(isBase64Encoded ? 'base64' : 'utf8') : null,
    isBase64Encoded: body !== undefined && isBase64Encoded,
    requestContext: { authorizer: { keyId: 'key_1' }, ...(isStageOmitted && { path }) },
  } as Parameters<typeof apiGatewayEvent>[0]);
}
