import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { apiGatewayEvent } from '../support/api-gateway-event.ts';
import { importHandlers } from '../support/handlers.ts';
import { invoke } from '../support/invoke.ts';
import { issueTestKey, startRealDatabase } from '../support/real-database.ts';
import { anyKindOfBody } from './bodies.ts';
import { type Answer, checkAnswer, readPet } from './answers.ts';
import type { Case, Pairs } from './cases.ts';
import { check, checkCreated, nothingKnown, type Request } from './checks.ts';
import { anyCase, letterCase, otherHeaders, renamed } from './requests.ts';
import { addFirstPets, recorder, type Target } from './fuzz.ts';

// The functions in this process, called with events of API Gateway (payload 1.0), on a real database engine.

type Input =
  | { aCase: Case; style: EventStyle }
  | { operation: OperationId; event: APIGatewayProxyEvent }
  | { authorizationToken: string; isAllowed: boolean };

/** How an event may say the same in another way. */
interface EventStyle {
  headers: Pairs;
  rename: (name: string) => string;
  isBase64Encoded: boolean;
  /** As under a domain of its own, whose addresses do not name the stage. */
  isStageHidden: boolean;
}

const plainStyle: EventStyle = {
  headers: [],
  rename: (name) => name,
  isBase64Encoded: false,
  isStageHidden: false,
};
const eventStyle: fc.Arbitrary<EventStyle> = fc.record({
  headers: otherHeaders,
  rename: letterCase,
  isBase64Encoded: fc.boolean(),
  isStageHidden: fc.boolean(),
});

const anyText = fc.oneof(
  fc.string({ unit: fc.nat(0xff_ff).map((code) => String.fromCharCode(code)) }),
  fc.string(),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'limit',
    'status',
    'cursor',
    'petId',
    'Content-Type',
    'idempotency-key',
    '5',
  ),
);
const orNull = { freq: 4 };
const anyMap = fc.option(fc.dictionary(anyText, anyText), orNull);
const anyMultiMap = fc.option(fc.dictionary(anyText, fc.array(anyText, { maxLength: 3 })), orNull);

/** An event of the right types, whose parts need not fit together. */
const anyEvent: fc.Arbitrary<APIGatewayProxyEvent> = fc
  .record({
    headers: anyMap,
    multiValueHeaders: anyMultiMap,
    queryStringParameters: anyMap,
    multiValueQueryStringParameters: anyMultiMap,
    pathParameters: anyMap,
    body: fc.option(
      fc.oneof(
        anyText,
        anyKindOfBody.map(({ text }) => text),
      ),
      orNull,
    ),
    isBase64Encoded: fc.boolean(),
    requestContext: fc.constant({ authorizer: { keyId: 'key_2' } }),
  })
  .map((parts) => apiGatewayEvent(parts as Parameters<typeof apiGatewayEvent>[0]));

/** What may stand in an Authorization header: `{key}` is the place of a key that works. */
const token: fc.Arbitrary<Input> = fc.oneof(
  fc
    .constantFrom('Bearer {key}', 'bearer {key}', 'BEARER   {key}', 'bEaReR {key}')
    .map((authorizationToken) => ({ authorizationToken, isAllowed: true })),
  fc
    .oneof(
      fc.constantFrom(
        '',
        '{key}',
        'Bearer',
        'Bearer{key}',
        'Basic {key}',
        'Bearer {key} ',
        ' Bearer {key}',
        'Bearer\t{key}',
      ),
      fc.constantFrom(
        'Bearer {key}{key}',
        'Bearer {key},Bearer {key}',
        'Bearer {key}\n',
        'Bearer {lower}',
        'Bearer {other}',
      ),
      anyText,
      anyText.filter((text) => text !== '').map((text) => `Bearer {key}${text}`),
      anyText.map((text) => `Bearer pets_staging_${text}`),
    )
    .map((authorizationToken) => ({ authorizationToken, isAllowed: false })),
);

const input: fc.Arbitrary<Input> = fc.oneof(
  { arbitrary: fc.record({ aCase: anyCase, style: eventStyle }), weight: 8 },
  {
    arbitrary: fc.record({
      operation: fc.constantFrom(...(Object.keys(operations) as OperationId[])),
      event: anyEvent,
    }),
    weight: 2,
  },
  { arbitrary: token, weight: 1 },
);

/** @param assembly folder of the cloud assembly. */
export async function startHandlers(assembly: string): Promise<Target<Input>> {
  const database = await startRealDatabase(assembly);
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' });
  // Imported only now: they read some of their environment when they are.
  const handlers = await importHandlers();
  const { handler: authorize } = await import('../../functions/authorizer.ts');
  const key = await issueTestKey();

  const known = nothingKnown();
  const outcomes = new Map<string, number>();
  const record = recorder(outcomes);

  async function call(operation: OperationId, event: APIGatewayProxyEvent): Promise<Answer> {
    const { status, headers, text } = await invoke(handlers[operation], event);
    const answer = { status, headers: new Headers(headers as Record<string, string>), text };
    record(operation, answer);
    return answer;
  }

  const askAs = (style: EventStyle) => (request: Request) =>
    call(operationOf(request), eventOf(request, style));
  const ask = askAs(plainStyle);
  await addFirstPets(ask, known, database.close);

  async function checkAny(operation: OperationId, event: APIGatewayProxyEvent): Promise<void> {
    const answer = await call(operation, event);
    checkAnswer(answer, 'any');
    if (answer.status === 201) await checkCreated(readPet(answer.text), ask, known);
  }

  async function checkToken(authorizationToken: string, isAllowed: boolean): Promise<void> {
    const { principalId, policyDocument, context } = await authorize({
      type: 'TOKEN',
      authorizationToken: authorizationToken
        .replaceAll('{key}', key)
        .replaceAll('{lower}', key.toLowerCase())
        .replaceAll('{other}', key.replace('staging', 'production')),
      methodArn: 'arn:aws:execute-api:us-east-1:123456789012:api/staging/GET/v1/pets',
    });
    outcomes.set(isAllowed ? 'Allow' : 'Deny', (outcomes.get(isAllowed ? 'Allow' : 'Deny') ?? 0) + 1);
    assert.deepEqual(policyDocument.Statement, [
      {
        Action: 'execute-api:Invoke',
        Effect: isAllowed ? 'Allow' : 'Deny',
        Resource: 'arn:aws:execute-api:us-east-1:123456789012:api/staging/*/*',
      },
    ]);
    assert.deepEqual(context, isAllowed ? { keyId: principalId } : undefined);
  }

  return {
    name: 'functions',
    input,
    async check(generated) {
      if ('event' in generated) return checkAny(generated.operation, generated.event);
      if ('authorizationToken' in generated)
        return checkToken(generated.authorizationToken, generated.isAllowed);
      const { aCase, style } = generated;
      await check(aCase, askAs(style), known, style.isBase64Encoded);
    },
    outcomes,
    printed: () => '',
    close: database.close,
  };
}

function operationOf({ method, path }: Request): Case['operation'] {
  if (method === 'POST') return 'createPet';
  return path === '/v1/pets' ? 'listPets' : 'getPet';
}

function eventOf({ method, path, query, headers, body }: Request, style: EventStyle): APIGatewayProxyEvent {
  const sent = renamed([...style.headers, ...headers], style.rename);
  const petId = path.split('/')[3];
  return apiGatewayEvent({
    httpMethod: method,
    path,
    pathParameters: petId === undefined ? null : { petId },
    headers: orNothing(Object.fromEntries(sent)),
    multiValueHeaders: orNothing(multiValues(sent)),
    queryStringParameters: orNothing(Object.fromEntries(query)),
    multiValueQueryStringParameters: orNothing(multiValues(query)),
    body: body ? body.toString(style.isBase64Encoded ? 'base64' : 'utf8') : null,
    isBase64Encoded: body !== undefined && style.isBase64Encoded,
    requestContext: { authorizer: { keyId: 'key_1' }, ...(style.isStageHidden && { path }) },
  });
}

function multiValues(pairs: Pairs): Record<string, string[]> {
  const values = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(Array.from(values, ([name, group]) => [name, group.map(([, value]) => value)]));
}

/** API Gateway gives null for what is absent. */
function orNothing<T extends object>(collection: T): T {
  return Object.keys(collection).length > 0 ? collection : (null as never);
}
