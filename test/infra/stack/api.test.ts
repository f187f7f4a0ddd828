import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { authorizationPattern } from '../../../shared/contract/authorization.ts';
import { methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import { propertiesOf, readableTemplate, stageNames } from '../../support/stack-template.ts';

const rows = Object.entries<Operation>(operations).map(([id, { method, path }]) => ({
  functionName: `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
  method,
  path,
}));
const otherPaths = ['/', '/v1', '/{proxy+}', ...methodsByPath().keys()];

// These tests cover the configuration. The HTTP tests of the local service cover the responses.
describe.each(stageNames)('the REST API of %s', (stage) => {
  const template = readableTemplate(stage);
  const { ApiRestApi: api, ApiAuthorizer: authorizer } = template.Resources;
  const apiStages = propertiesOf(template, 'AWS::ApiGateway::Stage');
  const methods = propertiesOf(template, 'AWS::ApiGateway::Method');

  // Forward secrecy prevents attackers from decrypting recorded requests and their API keys later.
  test('requires TLS with forward secrecy and a matching server name', () => {
    expect(api.Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
  });

  test('has one stage with tracing and the configured throttling limits', () => {
    const throttling = {
      ResourcePath: '/*',
      HttpMethod: '*',
      ThrottlingRateLimit: stages[stage].requestsPerSecond,
      ThrottlingBurstLimit: stages[stage].requestBurst,
    };
    expect(apiStages).toMatchObject([
      { StageName: stage, TracingEnabled: true, MethodSettings: [throttling] },
    ]);
    expect(apiStages[0].MethodSettings).toHaveLength(1);
  });

  test('has a route with the authorizer for each operation and a mock for every other request', () => {
    const routes = rows.map(({ method, path }) => `${method} ${path} CUSTOM AWS_PROXY`);
    const mocks = otherPaths.map((path) => `ANY ${path} NONE MOCK`);
    const found = methods.map(
      ({ HttpMethod, ResourceId, AuthorizationType, Integration }) =>
        `${HttpMethod} ${pathOf(ResourceId) || '/'} ${AuthorizationType} ${Integration.Type}`,
    );
    expect(found.toSorted()).toEqual([...routes, ...mocks].toSorted());
  });

  // A deployment fails if a mock sets a header that its method does not declare.
  test('declares every header of its mocks', () => {
    const mocks = methods.filter(({ Integration }) => Integration.Type === 'MOCK');
    for (const { MethodResponses, Integration } of mocks) {
      const [{ StatusCode, ResponseParameters }] = Integration.IntegrationResponses;
      const declared = Object.keys(ResponseParameters).map((name) => [name, true]);
      expect(MethodResponses).toEqual([{ StatusCode, ResponseParameters: Object.fromEntries(declared) }]);
    }
  });

  test('can invoke only the alias of each function and only from the function’s route', () => {
    const apiArn = 'arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${ApiRestApi}';
    const sources = [
      ...rows.map(({ functionName, method, path }) => [
        functionName,
        `/\${ApiRestApiDeploymentStage${stage}}/${method}${path.replaceAll(/\{\w+\}/g, '*')}`,
      ]),
      ['Authorizer', '/authorizers/${ApiAuthorizer}'],
    ];
    const permissions = propertiesOf(template, 'AWS::Lambda::Permission');
    expect(permissions).toHaveLength(sources.length);
    expect(permissions).toEqual(
      expect.arrayContaining(
        sources.map(([functionName, source]) => ({
          Action: 'lambda:InvokeFunction',
          FunctionName: `\${${functionName}Live}`,
          Principal: 'apigateway.amazonaws.com',
          SourceArn: `${apiArn}${source}`,
        })),
      ),
    );
  });

  test('caches the authorizer’s result for 60 seconds', () => {
    expect(authorizer.Properties.AuthorizerResultTtlInSeconds).toBe(60);
  });

  test('has an authorizer regex without JavaScript-specific syntax', () => {
    const { IdentityValidationExpression: expression } = authorizer.Properties;
    expect(expression).toBe(authorizationPattern(stage));
    expect(expression).not.toMatch(/\(\?|\\[pPkbB]|\[\^/);
  });

  /** Returns a resource's path. The API itself has an empty path. */
  function pathOf(reference: string): string {
    const { Type, Properties } = template.Resources[/\w+/.exec(reference)![0]];
    return Type === 'AWS::ApiGateway::Resource'
      ? `${pathOf(Properties.ParentId)}/${Properties.PathPart}`
      : '';
  }
});
