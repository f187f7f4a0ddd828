import { describe, expect, test } from '@jest/globals';
import { metrics } from '../../shared/names.ts';
import { occurrences, written } from '../support/log-lines.ts';

// Read once, when the module is loaded.
process.env['POWERTOOLS_SERVICE_NAME'] = 'pet-store-test';
const { count, loggable } = await import('../../shared/telemetry.ts');

const service = 'pet-store-test';
const common = { namespace: 'PetStore', unit: 'Count', value: 1 };

describe('a metric', () => {
  test('has the dimensions of its own call and none of an earlier one', () => {
    count(metrics.deprecatedCalls, { operation: 'getPet', keyId: 'key_1' });
    count(metrics.petsCreated, {});
    count(metrics.errorResponses, { code: 'not_found' });
    count(metrics.errorResponses, { code: 'invalid_request' });
    expect(occurrences()).toEqual([
      { ...common, name: 'DeprecatedCalls', dimensions: { service, operation: 'getPet', keyId: 'key_1' } },
      { ...common, name: 'PetsCreated', dimensions: { service } },
      { ...common, name: 'ErrorResponses', dimensions: { service, code: 'not_found' } },
      { ...common, name: 'ErrorResponses', dimensions: { service, code: 'invalid_request' } },
    ]);
    expect(written()).toMatch(/^(?:\{"_aws":.*\}\n){4}$/);
    const [line = ''] = written().split('\n');
    expect(Object.keys(JSON.parse(line)).join()).toBe('_aws,service,operation,keyId,DeprecatedCalls');
  });
});

describe('an error in the log', () => {
  test.each(['RangeError', 'SyntaxError', 'ValidationException'])(
    'has no message if it is a %s, which quotes values',
    (name) => {
      const error = Object.assign(new Error('secret'), { name });
      expect(loggable(error)).toMatchObject({ name, message: 'Not logged: it may quote what was sent.' });
    },
  );

  test('has its stack, without the lines of its message', () => {
    const message = 'No luck\n    at all';
    const places = '    at first (a.ts:1:2)\n    at second (b.ts:3:4)';
    const error = Object.assign(new Error(message), { stack: `Error at home: ${message}\n${places}` });
    expect(loggable(error)).toEqual({ name: 'Error', message, stack: places });
  });

  test.each([undefined, 'Error: No luck'])('may have a stack without places: %s', (stack) => {
    const error = Object.assign(new Error('No luck'), { stack });
    expect(loggable(error)).toEqual({ name: 'Error', message: 'No luck' });
  });

  test('is only the type of what was thrown if that is not an error', () => {
    expect(loggable('secret')).toEqual({ thrown: 'string' });
  });

  test('has what the SDK says of the call', () => {
    const members = { code: 'ECONNRESET', $metadata: { httpStatusCode: 400, attempts: 3 } };
    expect(loggable(Object.assign(new Error('No luck'), members))).toMatchObject(members);
  });

  test('has five causes, even if they form a ring', () => {
    const error = new Error('No luck');
    error.cause = error;
    expect(JSON.stringify(loggable(error)).match(/"message"/g)).toHaveLength(6);
  });
});
