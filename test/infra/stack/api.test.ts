import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import { changedTemplate } from '../../support/changed-stack.ts';
import {
  asText,
  permissionsOf,
  resourceOf,
  resourcesOf,
  stackTemplate,
  type Resource,
  stageNames,
  type StackTemplate,
} from '../../support/stack-template.ts';

const rows = Object.entries<Operation>(operations).map(([id, { method, path }]) => ({ id, method, path }));

describe.each(stageNames)('the REST API of %s', (stage) => {
  const template = stackTemplate(stage);
  const [apiId, api] = resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
  const [authorizerId] = resourceOf(template, 'AWS::ApiGateway::Authorizer', 'ApiAuthorizer');
  const apiStages = resourcesOf(template, 'AWS::ApiGateway::Stage');
  const methods = methodsOf(template);

  test('is regional', () => {
    expect(api.Properties['EndpointConfiguration']).toEqual({ Types: ['REGIONAL'] });
  });

  test('is published under the name of the stage, and no other', () => {
    expect(apiStages.map(([, { Properties }]) => Properties['StageName'])).toEqual([stage]);
  });

  // Keys travel in every request: whoever recorded one must not be able to read it later.
  test('takes TLS 1.2 with forward secrecy or 1.3, under the name that the request is for', () => {
    expect(api.Properties).toMatchObject({
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
  });

  test('lets through as many requests as the stage says, on every route', () => {
    const [[, { Properties }]] = apiStages as [[string, Resource]];
    expect(Properties['MethodSettings']).toEqual([
      expect.objectContaining({
        ResourcePath: '/*',
        HttpMethod: '*',
        ThrottlingRateLimit: stages[stage].requestsPerSecond,
        ThrottlingBurstLimit: stages[stage].requestBurst,
      }),
    ]);
  });

  test('traces requests', () => {
    expect(apiStages[0]![1].Properties['TracingEnabled']).toBe(true);
  });

  test('has a route for each operation, and refuses all else', () => {
    expect([...methods.keys()].toSorted()).toEqual(
      [
        ...rows.map(({ method, path }) => `${method} ${path}`),
        'ANY /',
        ...Array.from(methodsByPath().keys(), (path) => `ANY ${path}`),
        'ANY /{proxy+}',
      ].toSorted(),
    );
  });

  describe.each(rows)('$method $path', ({ id, method, path }) => {
    const functionName = id.charAt(0).toUpperCase() + id.slice(1);
    const [aliasId] = resourceOf(template, 'AWS::Lambda::Alias', `${functionName}Live`);
    const route = methods.get(`${method} ${path}`)!;

    test('asks for an API key', () => {
      expect(route).toMatchObject({ AuthorizationType: 'CUSTOM', AuthorizerId: { Ref: authorizerId } });
    });

    test(`calls the ${functionName} in use`, () => {
      expect(route['Integration']).toMatchObject({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' });
      expect(asText(route['Integration'].Uri)).toBe(
        `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/\${${aliasId}}/invocations`,
      );
    });

    test('is the only one that may', () => {
      expect(permissionsOf(template, aliasId)).toEqual([
        `\${${apiId}}/\${${apiStages[0]![0]}}/${method}${path.replaceAll(/\{\w+\}/g, '*')}`,
      ]);
    });
  });

  describe.each([
    ['/', 'not_found', undefined],
    ['/{proxy+}', 'not_found', undefined],
    ...Array.from(
      methodsByPath(),
      ([path, taken]) => [path, 'method_not_allowed', taken.join(', ')] as const,
    ),
  ] as const)('any other request to %s', (path, code, allow) => {
    const { Integration: integration, ...method } = methods.get(`ANY ${path}`)!;
    const { status } = errorCatalogue[code];

    test('is refused without a key and without a function', () => {
      expect(method['AuthorizationType']).toBe('NONE');
      expect(method).not.toHaveProperty('AuthorizerId');
      expect(integration.Type).toBe('MOCK');
    });

    test(`is answered ${status}, whatever its common media type`, () => {
      expect(integration.PassthroughBehavior).toBe('NEVER');
      const templates = Object.entries<string>(integration.RequestTemplates);
      expect(templates.map(([type]) => type)).toEqual(
        expect.arrayContaining(['application/json', 'text/plain', 'application/x-www-form-urlencoded']),
      );
      for (const [, text] of templates) expect(JSON.parse(text)).toEqual({ statusCode: status });
    });

    test(`has an Error body${allow ? ' and says what is allowed' : ''}`, () => {
      const headers = { 'Cache-Control': "'no-store'", ...(allow && { Allow: `'${allow}'` }) };
      const parameters = Object.entries(headers).map(([name, value]) => [
        `method.response.header.${name}`,
        value,
      ]);
      expect(integration.IntegrationResponses).toEqual([
        {
          StatusCode: `${status}`,
          ResponseParameters: Object.fromEntries(parameters),
          ResponseTemplates: { 'application/json': expect.any(String) },
        },
      ]);
      // A header that the method does not declare fails the deployment.
      expect(method['MethodResponses']).toEqual([
        {
          StatusCode: `${status}`,
          ResponseParameters: Object.fromEntries(parameters.map(([name]) => [name, true])),
        },
      ]);
      const body = JSON.parse(integration.IntegrationResponses[0].ResponseTemplates['application/json']);
      expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
      expect(body).toEqual({ code, message: expect.stringMatching(/\w/), status });
    });
  });
});

// API Gateway serves what was deployed last: a change without a new deployment would not be seen by anybody.
test('a changed setting of the API makes a new deployment', () => {
  const settings = { ...stages.staging, authorizerCacheSeconds: 30 };
  const [[before], [after]] = [changedTemplate('staging'), changedTemplate('staging', { settings })].map(
    (template) => resourcesOf(template, 'AWS::ApiGateway::Deployment')[0]!,
  ) as [[string, Resource], [string, Resource]];
  expect(after).not.toBe(before);
});

/** The properties of every method, by `METHOD /path`. */
function methodsOf(template: StackTemplate): Map<string, Record<string, any>> {
  const resources = new Map(resourcesOf(template, 'AWS::ApiGateway::Resource'));
  function pathOf(reference: { Ref?: string }): string {
    const resource = reference.Ref === undefined ? undefined : resources.get(reference.Ref);
    // What is not a resource of its own is the API's root.
    return resource ? `${pathOf(resource.Properties['ParentId'])}/${resource.Properties['PathPart']}` : '';
  }
  return new Map(
    resourcesOf(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => [
      `${Properties['HttpMethod']} ${pathOf(Properties['ResourceId']) || '/'}`,
      Properties,
    ]),
  );
}
