import { describe, expect, test } from '@jest/globals';
import {
  asText,
  permissionsOf,
  resourceOf,
  stackTemplate,
  stageNames,
} from '../../support/stack-template.ts';

const key = '0123456789ABCDEFGHIJKLMNOPqrstuvwxyz';

describe.each(stageNames)('the authorizer of %s', (stage) => {
  const template = stackTemplate(stage);
  const [apiId] = resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
  const [authorizerId, authorizer] = resourceOf(template, 'AWS::ApiGateway::Authorizer', 'ApiAuthorizer');
  const [aliasId] = resourceOf(template, 'AWS::Lambda::Alias', 'AuthorizerLive');

  test('gets the Authorization header', () => {
    expect(authorizer.Properties).toMatchObject({
      Type: 'TOKEN',
      IdentitySource: 'method.request.header.Authorization',
    });
  });

  test('is the function in use', () => {
    expect(asText(authorizer.Properties['AuthorizerUri'])).toMatch(
      new RegExp(String.raw`:lambda:path/2015-03-31/functions/\$\{${aliasId}\}/invocations$`),
    );
  });

  test('decides for a minute', () => {
    expect(authorizer.Properties['AuthorizerResultTtlInSeconds']).toBe(60);
  });

  test('may be called as authorizer alone', () => {
    expect(permissionsOf(template, aliasId)).toEqual([`\${${apiId}}/authorizers/\${${authorizerId}}`]);
  });

  const source: string = authorizer.Properties['IdentityValidationExpression'];
  const other = stageNames.find((name) => name !== stage)!;

  test('is asked by an expression without groups that only JavaScript knows', () => {
    expect(source).toMatch(/^\^.*\$$/);
    expect(source).not.toMatch(/\(\?|\\[pPkbB]|\[\^/);
  });

  test.each(['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer    '])('is asked after %j', (scheme) => {
    const match = new RegExp(source).exec(`${scheme}pets_${stage}_${key}`);
    expect(match?.[1]).toBe(`pets_${stage}_${key}`);
  });

  const wellFormed = `Bearer pets_${stage}_${key}`;
  test.each([
    '',
    'Bearer',
    'Bearer ',
    `pets_${stage}_${key}`,
    `Basic pets_${stage}_${key}`,
    `Bearerpets_${stage}_${key}`,
    `Bearer\tpets_${stage}_${key}`,
    `Bearer pets_${other}_${key}`,
    `Bearer pets__${key}`,
    `Bearer PETS_${stage}_${key}`,
    wellFormed.slice(0, -1),
    `${wellFormed}0`,
    `${wellFormed.slice(0, -1)}-`,
    `${wellFormed.slice(0, -1)}é`,
    ` ${wellFormed}`,
    `x${wellFormed}`,
    `x\n${wellFormed}`,
    `${wellFormed} `,
    `${wellFormed}\n`,
    `${wellFormed}\r\nx`,
    `${wellFormed}, ${wellFormed}`,
  ])('is not asked after %j', (header) => {
    expect(header).not.toMatch(new RegExp(source));
  });
});
