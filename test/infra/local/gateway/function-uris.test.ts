import { describe, expect, test } from '@jest/globals';
import { functionsByUri } from '../../../../infra/local/gateway/function-uris.ts';
import { lambdaStub } from '../../../support/lambda-stub.ts';
import {
  alias,
  invokedAs,
  lambdaFunction,
  permission,
  role,
  type SampleResources,
  sampleApi,
  templateOf,
} from '../../../support/sample-resources.ts';

const caller = 'arn:aws:execute-api:us-east-1:000000000000:Api/sample/GET/pets';
const resources: SampleResources = {
  ...sampleApi,
  Role: role,
  One: lambdaFunction('one'),
  OneLive: alias('One', 'live'),
  OneLivePermission: permission('OneLive', 'sample/GET/pets', invokedAs.alias),
  Other: lambdaFunction('other'),
  OtherPermission: permission('Other', 'sample/GET/pets'),
};
const functions = new Map([
  ['One', lambdaStub()],
  ['Other', lambdaStub()],
]);

function uri(name: string): string {
  const arn = `arn:aws:lambda:us-east-1:000000000000:function:${name}`;
  return `arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/${arn}/invocations`;
}

function find(name: string, callerArn = caller, more: SampleResources = {}): unknown {
  return functionsByUri(templateOf({ ...resources, ...more }), functions)(uri(name), callerArn);
}

describe('the URI of an invocation', () => {
  test.each(['Other', 'One:live'])('finds the function of %s', (name) => {
    expect(find(name)).toBe(functions.get(name.split(':')[0]!));
  });

  test.each([
    ['a function that does not exist', 'Nobody'],
    ['an alias of a function that does not exist', 'Nobody:live'],
    ['an alias that does not exist', 'One:old'],
    ['the alias of another function', 'Other:live'],
    ['a version', 'One:1'],
    ['an alias without a name', 'One:'],
    ['nothing', ''],
  ])('is rejected if it names %s', (_what, name) => {
    expect(() => find(name)).toThrow(
      `The template has an integration with an unknown function: ${uri(name)}.`,
    );
  });

  describe('is rejected without a permission', () => {
    test('for the alias, although there is one for its function', () => {
      const more = { OneLivePermission: permission('One', 'sample/GET/pets') };
      expect(() => find('One:live', caller, more)).toThrow(
        `No AWS::Lambda::Permission lets API Gateway invoke arn:aws:lambda:us-east-1:000000000000:function:One:live for ${caller}.`,
      );
    });

    test('for the function, although there is one for its alias', () => {
      expect(() => find('One')).toThrow(/No AWS::Lambda::Permission .*:function:One for /);
    });

    test('for this caller', () => {
      const other = caller.replace('GET', 'POST');
      expect(() => find('One:live', other)).toThrow(`function:One:live for ${other}.`);
    });
  });
});
