import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import {
  propertiesOf,
  type ReadableTemplate,
  readableTemplate,
  stageNames,
} from '../../support/stack-template.ts';

const rows = Object.entries<Operation>(operations).map(([id, { method, path }]) => ({
  functionName: `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
  method,
  path,
}));
const mocks = [
  ['/', 'not_found', undefined],
  ['/{proxy+}', 'not_found', undefined],
  ...Array.from(methodsByPath(), ([path, taken]) => [path, 'method_not_allowed', taken.join(', ')] as const),
] as const;

describe.each(stageNames)('the REST API of %s', (stage) => {
  const template = readableTemplate(stage);
  const { ApiRestApi: api, ApiAuthorizer: authorizer } = template.Resources;
  const apiStages = propertiesOf(template, 'AWS::ApiGateway::Stage');
  const methods = methodsOf(template);

  // Keys travel in every request: anyone who recorded one must not be able to read it later.
  test('accepts TLS 1.2 with forward secrecy or 1.3, under its own name', () => {
    expect(api.Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
  });

  test('has one stage, which is traced and throttles every route as the settings say', () => {
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

  test('has a route for each operation, and a mock for everything else', () => {
    const routes = rows.map(({ method, path }) => `${method} ${path}`);
    expect([...methods.keys()].toSorted()).toEqual(
      [...routes, ...mocks.map(([path]) => `ANY ${path}`)].toSorted(),
    );
  });

  test.each(rows)('requires a key for $method $path, and calls $functionName', (row) => {
    const route = methods.get(`${row.method} ${row.path}`);
    expect(route).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: '${ApiAuthorizer}',
      Integration: { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' },
    });
    expect(route.Integration.Uri).toBe(
      `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/\${${row.functionName}Live}/invocations`,
    );
  });

  test('calls each function through its alias from its own route, and nothing else may', () => {
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

  test.each(mocks)('responds to any other request to %s without a key: %s', (path, code, allow) => {
    const { status } = errorCatalogue[code];
    const request = `{"statusCode":${status}}`;
    const headers = {
      'method.response.header.Cache-Control': "'no-store'",
      ...(allow && { 'method.response.header.Allow': `'${allow}'` }),
    };
    // A header that the method does not declare fails the deployment.
    const declared = Object.fromEntries(Object.keys(headers).map((name) => [name, true]));
    const body = new RegExp(`^{"code":"${code}","message":"[^"]+","status":${status}}$`);
    expect(methods.get(`ANY ${path}`)).toMatchObject({
      AuthorizationType: 'NONE',
      MethodResponses: [{ StatusCode: `${status}`, ResponseParameters: declared }],
      Integration: {
        Type: 'MOCK',
        PassthroughBehavior: 'NEVER',
        RequestTemplates: {
          'application/json': request,
          'application/x-www-form-urlencoded': request,
          'text/plain': request,
        },
        IntegrationResponses: [
          {
            StatusCode: `${status}`,
            ResponseParameters: headers,
            ResponseTemplates: { 'application/json': expect.stringMatching(body) },
          },
        ],
      },
    });
  });

  describe('has an authorizer that', () => {
    const { IdentityValidationExpression: expression, ...properties } = authorizer.Properties;

    test('gets the Authorization header, and whose decision is cached for a minute', () => {
      expect(properties).toMatchObject({
        Type: 'TOKEN',
        IdentitySource: 'method.request.header.Authorization',
        AuthorizerUri: expect.stringMatching(
          /:lambda:path\/2015-03-31\/functions\/\$\{AuthorizerLive\}\/invocations$/,
        ),
        AuthorizerResultTtlInSeconds: 60,
      });
    });

    const key = `pets_${stage}_0123456789ABCDEFGHIJKLMNOPqrstuvwxyz`;
    const other = stageNames.find((name) => name !== stage)!;

    test('is called by an expression without groups that only JavaScript knows', () => {
      expect(expression).toMatch(/^\^.*\$$/);
      expect(expression).not.toMatch(/\(\?|\\[pPkbB]|\[\^/);
    });

    test.each(['Bearer ', 'bEaReR    '])('is called after %j', (scheme) => {
      expect(new RegExp(expression).exec(`${scheme}${key}`)?.[1]).toBe(key);
    });

    test.each([
      '',
      key,
      `Basic ${key}`,
      `Bearer${key}`,
      `Bearer\t${key}`,
      `Bearer ${key.replace(stage, other)}`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}0`,
      `Bearer ${key.slice(0, -1)}-`,
      `Bearer ${key.slice(0, -1)}é`,
      ` Bearer ${key}`,
      `x\nBearer ${key}`,
      `Bearer ${key}\n`,
    ])('is not called after %j', (header) => {
      expect(header).not.toMatch(new RegExp(expression));
    });
  });
});

/** @returns the properties of every method, by `METHOD /path`. */
function methodsOf(template: ReadableTemplate): Map<string, any> {
  function pathOf(reference: string): string {
    const { Type, Properties } = template.Resources[/\w+/.exec(reference)![0]];
    // The parent of the topmost resources is the API itself.
    return Type === 'AWS::ApiGateway::Resource'
      ? `${pathOf(Properties.ParentId)}/${Properties.PathPart}`
      : '';
  }
  return new Map(
    propertiesOf(template, 'AWS::ApiGateway::Method').map((method) => [
      `${method.HttpMethod} ${pathOf(method.ResourceId) || '/'}`,
      method,
    ]),
  );
}
