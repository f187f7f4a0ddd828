import { expect, test } from '@jest/globals';
import { accessLogLine } from '../../../../infra/local/gateway/access-log.ts';

test.each([
  ['values', '{"status":"$context.status","id":"$context.requestId"}', '{"status":"404","id":"$& $1"}'],
  ['zero', '$context.responseLength', '0'],
  ['a variable each time it occurs', '$context.status,$context.status/$context.status', '404,404/404'],
  ['a dash for a variable without a value', '$context.xrayTraceId $context.statusCode $input.body', '- - -'],
])('a line of the access log has %s', (_what, format, line) => {
  const values = { '$context.status': 404, '$context.requestId': '$& $1', '$context.responseLength': 0 };
  expect(accessLogLine(format, values)).toBe(line);
});
