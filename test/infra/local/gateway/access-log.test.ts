import { describe, expect, test } from '@jest/globals';
import { accessLogWriter } from '../../../../infra/local/gateway/access-log.ts';

describe('the access log', () => {
  test('has values in place of variables, and all else as it stands', () => {
    const write = accessLogWriter(
      '{"service":"sample","status":"$context.status","id":"$context.requestId"}',
    );
    expect(write({ '$context.status': 404, '$context.requestId': 'request-1' })).toBe(
      '{"service":"sample","status":"404","id":"request-1"}',
    );
  });

  test('has a dash where there is no value', () => {
    const write = accessLogWriter('$context.status $context.authorizer.keyId $context.error.responseType');
    expect(write({ '$context.status': 200 })).toBe('200 - -');
  });

  test.each<[string, string | number]>([
    ['nought', 0],
    ['an empty text', ''],
  ])('has %s where that is the value', (_what, value) => {
    expect(accessLogWriter('[$context.responseLength]')({ '$context.responseLength': value })).toBe(
      `[${value}]`,
    );
  });

  test('has a variable each time that it stands in the format', () => {
    const write = accessLogWriter('$context.status,$context.status/$context.httpMethod-$context.status');
    expect(write({ '$context.status': 200, '$context.httpMethod': 'GET' })).toBe('200,200/GET-200');
  });

  test('has values as they are, whatever a pattern would make of them', () => {
    const write = accessLogWriter('<$context.resourcePath>');
    expect(write({ '$context.resourcePath': '$& $context.status $1' })).toBe('<$& $context.status $1>');
  });

  test('writes each line anew', () => {
    const write = accessLogWriter('$context.status $context.authorizer.keyId');
    expect(write({ '$context.status': 200, '$context.authorizer.keyId': 'key_1' })).toBe('200 key_1');
    expect(write({ '$context.status': 401 })).toBe('401 -');
  });

  test.each([
    '$context.authorizer.keyId',
    '$context.authorizer.latency',
    '$context.awsEndpointRequestId',
    '$context.error.responseType',
    '$context.extendedRequestId',
    '$context.httpMethod',
    '$context.identity.sourceIp',
    '$context.integration.latency',
    '$context.requestId',
    '$context.requestTime',
    '$context.resourcePath',
    '$context.responseLatency',
    '$context.responseLength',
    '$context.status',
  ] as const)('knows %s', (variable) => {
    expect(accessLogWriter(`"${variable}"`)({ [variable]: 'known' })).toBe('"known"');
  });

  test.each(['$context.waf.status', '$context.xrayTraceId'])(
    'has a dash for %s, of which there is none here',
    (name) => {
      expect(accessLogWriter(name)({})).toBe('-');
    },
  );

  describe('is refused, by the name of the variable, with', () => {
    test.each([
      ['a variable that is not modelled', '$context.error.messageString'],
      ['what goes on from a variable that is', '$context.requestIdentity'],
      ['a member of a variable that is', '$context.status.code'],
      ['a variable that another one goes on from', '$context.requestTimeEpoch'],
      ['an object of variables', '$context.authorizer'],
      ['all variables', '$context'],
      ['a variable of the stage', '$stageVariables.colour'],
      ['a part of the request', '$input.body'],
    ])('%s', (_what, variable) => {
      expect(() => accessLogWriter(`{"status":"$context.status","other":"${variable}"}`)).toThrow(
        `The access log has the variable ${variable}, which is not modelled.`,
      );
    });
  });
});
