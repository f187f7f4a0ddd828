import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { handler as authorize } from '../functions/authorizer.ts';
import { loggable, logger } from '../shared/telemetry.ts';
import { written } from './support/log-lines.ts';
import { findSecrets, secrets } from './support/marked-values.ts';
import { mock, setEnvironment } from './support/mocked-database.ts';

/** Request text that an error quotes. */
const quoted = '{"name":"Rex of a client"}';

const failure = (members: object): Error => Object.assign(new Error('No.'), members);

test.each<[string, unknown]>([
  [
    'an error with additional properties',
    failure({ Item: quoted, input: quoted, $response: { body: quoted } }),
  ],
  ['an AggregateError', Object.assign(new AggregateError([new Error(quoted)]), { port: 443 })],
  ['an error with a toJSON method', failure({ toJSON: () => quoted })],
  ['an error with a cause', failure({ cause: failure({ cause: new SyntaxError(quoted), quoted }) })],
  ['an error whose cause is a string', failure({ cause: quoted })],
  ['an error whose cause is an object', failure({ cause: { message: quoted } })],
  ['an object', { message: quoted, stack: quoted }],
])('the log entry for %s contains no text from a request', (_what, thrown) => {
  logger().error('A message', { error: loggable(thrown) });
  expect(written()).toContain('A message');
  expect(written()).not.toContain('Rex of a client');
});

// Lambda logs all enumerable properties of an error that a function throws. The table's key is a hash and not secret.
describe('the authorizer', () => {
  setEnvironment({ STAGE: 'staging', API_KEYS_TABLE: 'keys' });

  test('does not include the API key in thrown errors', async () => {
    mock.onAnyCommand().callsFake(async (input) => {
      throw Object.assign(new Error(inspect(input, { depth: Infinity })), { input });
    });
    const authorizationToken = `Bearer ${secrets.key}`;
    const methodArn = 'arn:aws:execute-api/a/b/c';
    const thrown: unknown = await authorize({ type: 'TOKEN', authorizationToken, methodArn }).catch(
      (error: unknown) => error,
    );
    const logged = written() + inspect(thrown, { depth: Infinity }) + JSON.stringify(thrown);
    expect(logged).toContain("TableName: 'keys'");
    expect(findSecrets(logged)).toEqual([]);
  });
});
