import { describe, expect, test } from '@jest/globals';
import { collections } from '../../shared/contract/operations.ts';
import { stages } from '../support/stages.ts';
import { propertiesOf, readableTemplate, stageNames } from '../support/stack-template.ts';
import { product } from '../support/product.ts';

// The HTTP tests cover routes, authentication and responses. The tests in this file cover properties that local HTTP
// tests cannot check.
describe.each(stageNames)('the REST API of %s', (stage) => {
  const template = readableTemplate(stage);
  const { ApiRestApi, ApiAuthorizer } = template.Resources;

  // With forward secrecy, attackers who record requests cannot decrypt the API keys in these requests later.
  test('requires TLS with forward secrecy, and a server name that matches the Host header', () => {
    expect(ApiRestApi.Properties).toMatchObject({
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
  });

  test('has one stage, which logs no bodies and applies the configured limits to all methods', () => {
    const { requestsPerSecond: ThrottlingRateLimit, requestBurst: ThrottlingBurstLimit } = stages[stage];
    const limits = { ResourcePath: '/*', HttpMethod: '*', ThrottlingRateLimit, ThrottlingBurstLimit };
    // Creates have limits of their own, because an index key limits only creates. `~1` stands for a slash in a path.
    const creates = collections.map(({ path }) => ({
      ResourcePath: `/${path.replaceAll('/', '~1')}`,
      HttpMethod: 'POST',
      ThrottlingRateLimit: stages[stage].createsPerSecond,
      ThrottlingBurstLimit: stages[stage].createBurst,
    }));
    const logging = { LoggingLevel: 'OFF', DataTraceEnabled: false };
    expect(propertiesOf(template, 'AWS::ApiGateway::Stage')).toEqual([
      expect.objectContaining({
        MethodSettings: [{ ...limits, ...logging }, ...creates.map((one) => ({ ...one, ...logging }))],
      }),
    ]);
  });

  // A deployment fails if a mock sets a header that its method does not declare.
  test('declares every header of its mock responses', () => {
    const methods = propertiesOf(template, 'AWS::ApiGateway::Method');
    const mocks = methods.filter(({ Integration }) => Integration.Type === 'MOCK');
    for (const { MethodResponses, Integration } of mocks) {
      const [{ StatusCode, ResponseParameters }] = Integration.IntegrationResponses;
      const declared = Object.keys(ResponseParameters).map((name) => [name, true]);
      expect(MethodResponses).toEqual([{ StatusCode, ResponseParameters: Object.fromEntries(declared) }]);
    }
  });

  // API Gateway returns a 401 without calling the authorizer if the header does not match the expression. AWS does not
  // document its dialect of regular expressions, so the expression must use only syntax that all common dialects share: no
  // groups with a question mark, named or negated classes, word boundaries and named references.
  test('has an authorizer whose expression accepts only headers with a key of this stage', () => {
    const { IdentityValidationExpression: expression } = ApiAuthorizer.Properties;
    expect(expression).not.toMatch(/\(\?|\\[pPkbB]|\[\^/);
    const key = `${product.keyStart}_${stage}_${'0aZ'.repeat(12)}`;
    const accepted = [`Bearer ${key}`, `bearer  ${key}`, `BEARER ${key}`];
    const rejected = [
      '',
      key,
      `Bearer${key}`,
      `Basic ${key}`,
      `Bearer ${key}0`,
      `Bearer ${key.slice(1)}`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer ${key.replace(stage, 'elsewhere')}`,
    ];
    const matching = [...accepted, ...rejected].filter((header) => new RegExp(expression).test(header));
    expect(matching).toEqual(accepted);
  });
});
