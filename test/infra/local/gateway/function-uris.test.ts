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
  OtherOld: alias('Other', 'old'),
  OtherPermission: permission('Other', 'sample/GET/pets'),
};
const functions = new Map([
  ['One', lambdaStub()],
  ['Other', lambdaStub()],
]);

function find(name: string, callerArn = caller): unknown {
  const uri = `arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/${arnOf(name)}/invocations`;
  return functionsByUri(templateOf(resources), functions)(uri, callerArn);
}

function arnOf(name: string): string {
  return `arn:aws:lambda:us-east-1:000000000000:function:${name}`;
}

describe('the URI of an invocation', () => {
  test.each(['Other', 'One:live'])('finds the function of %s', (name) => {
    expect(find(name)).toBe(functions.get(name.split(':')[0]!));
  });

  test.each([
    ['a function that does not exist', 'Nobody'],
    ['an alias that does not exist', 'One:old'],
    ['the alias of another function', 'Other:live'],
    ['an alias without a name', 'One:'],
    ['nothing', ''],
  ])('is rejected if it names %s', (_what, name) => {
    expect(() => find(name)).toThrow(
      `The template has an integration with an unknown function: arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/${arnOf(name)}/invocations.`,
    );
  });

  test.each([
    ['the alias, although there is one for its function', 'Other:old', caller],
    ['the function, although there is one for its alias', 'One', caller],
    ['this caller', 'One:live', caller.replace('GET', 'POST')],
  ])('is rejected without a permission for %s', (_what, name, callerArn) => {
    expect(() => find(name, callerArn)).toThrow(
      `No AWS::Lambda::Permission lets API Gateway invoke ${arnOf(name)} for ${callerArn}.`,
    );
  });
});
