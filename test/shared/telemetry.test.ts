import { describe, expect, test } from '@jest/globals';
import { count, loggable, primeCount } from '../../shared/telemetry.ts';
import { createdMetric, metricNamespace, metrics, serviceName } from '../../shared/names.ts';
import { books } from '../support/books.ts';
import { occurrences, written } from '../support/log-lines.ts';

// Powertools reads this variable when telemetry.ts creates its recorder, on the first call of `count` or `primeCount`.
process.env['POWERTOOLS_SERVICE_NAME'] = serviceName('test');

const service = serviceName('test');
const common = { namespace: metricNamespace, unit: 'Count', value: 1 };

describe('count', () => {
  test('writes only the dimensions of the current call', () => {
    count(metrics.deprecatedCalls, { operation: 'anOperation' });
    count(metrics.errorResponses, { code: 'not_found' });
    count(metrics.errorResponses, { code: 'invalid_request' });
    expect(occurrences()).toEqual([
      { ...common, name: 'DeprecatedCalls', dimensions: { service, operation: 'anOperation' } },
      { ...common, name: 'ErrorResponses', dimensions: { service, code: 'not_found' } },
      { ...common, name: 'ErrorResponses', dimensions: { service, code: 'invalid_request' } },
    ]);
    expect(written()).toMatch(/^(?:\{"_aws":.*\}\n){3}$/);
    const [line = ''] = written().split('\n');
    expect(Object.keys(JSON.parse(line)).join()).toBe('_aws,service,operation,DeprecatedCalls');
  });
});

test('primeCount writes no metric, either immediately or with the next metric', () => {
  primeCount(createdMetric(books));
  count(metrics.errorResponses, { code: 'not_found' });
  expect(occurrences()).toMatchObject([{ name: 'ErrorResponses' }]);
});

describe('loggable', () => {
  test.each(['RangeError', 'SyntaxError', 'ValidationException'])(
    'omits the message of a %s, which can contain request data',
    (name) => {
      const error = Object.assign(new Error('secret'), { name });
      expect(loggable(error)).toMatchObject({
        name,
        message: 'Not logged, because it can contain request data.',
      });
    },
  );

  test('returns the stack frames without the lines of the message', () => {
    const message = 'Read failed\n    at all';
    const frames = '    at first (a.ts:1:2)\n    at second (b.ts:3:4)';
    const error = Object.assign(new Error(message), { stack: `Error at home: ${message}\n${frames}` });
    expect(loggable(error)).toEqual({ name: 'Error', message, stack: frames });
  });

  test.each([undefined, 'Error: Read failed'])('returns no stack if the stack is %j', (stack) => {
    const error = Object.assign(new Error('Read failed'), { stack });
    expect(loggable(error)).toEqual({ name: 'Error', message: 'Read failed' });
  });

  test('returns only the type of a thrown value that is not an error', () => {
    expect(loggable('secret')).toEqual({ thrown: 'string' });
  });

  test('returns the code and the metadata of an SDK error', () => {
    const metadata = { code: 'ECONNRESET', $metadata: { httpStatusCode: 400, attempts: 3 } };
    expect(loggable(Object.assign(new Error('Read failed'), metadata))).toMatchObject(metadata);
  });

  test('returns only the first five causes of a circular chain', () => {
    const error = new Error('Read failed');
    error.cause = error;
    expect(JSON.stringify(loggable(error)).match(/"message"/g)).toHaveLength(6);
  });
});
