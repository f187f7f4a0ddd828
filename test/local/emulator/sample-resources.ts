import { parseTemplate, type Template } from '../../../infra/local/emulator/template/template.ts';

// Resources for small templates, with the properties that the CDK writes for this project.

export interface SampleResource {
  Type: string;
  Properties: Record<string, unknown>;
  Condition?: string;
}
export type SampleResources = Record<string, SampleResource>;

/**
 * Returns a template with the resources, and a route to each function, because the emulator runs only functions that the
 * API invokes.
 *
 * @param withoutRoute logical ids of the functions that get no route
 */
export function templateOf(resources: SampleResources, withoutRoute: string[] = []): Template {
  const functions = Object.keys(resources).filter(
    (id) => resources[id]!.Type === 'AWS::Lambda::Function' && !withoutRoute.includes(id),
  );
  const routes = functions.map((id) => [
    `${id}Route`,
    method(root, 'GET', proxyTo({ 'Fn::GetAtt': [id, 'Arn'] })),
  ]);
  const Resources = { Api: sampleApi.Api, ...resources, ...(Object.fromEntries(routes) as SampleResources) };
  return parseTemplate(JSON.stringify({ Resources, Outputs: {} }));
}

function resource(type: string, Properties: SampleResource['Properties']): SampleResource {
  return { Type: `AWS::${type}`, Properties };
}

/** Returns the resource with changed properties. Properties that are undefined are missing from the template. */
export function withProperties({ Type, Properties }: SampleResource, changes: object): SampleResource {
  return { Type, Properties: { ...Properties, ...changes } };
}

export const sampleApi = {
  Api: resource('ApiGateway::RestApi', { Name: 'library-staging' }),
  Stage: resource('ApiGateway::Stage', {
    MethodSettings: [{ HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 100 }],
    StageName: 'staging',
  }),
};

export const root = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };

export function pathResource(ParentId: unknown, PathPart: string): SampleResource {
  return resource('ApiGateway::Resource', { ParentId, PathPart });
}

export function method(ResourceId: unknown, HttpMethod: string, Integration = mock('404')): SampleResource {
  return resource('ApiGateway::Method', { AuthorizationType: 'NONE', HttpMethod, ResourceId, Integration });
}

export function mock(StatusCode: string): object {
  return {
    Type: 'MOCK',
    PassthroughBehavior: 'NEVER',
    RequestTemplates: { 'application/json': `{"statusCode":${StatusCode}}` },
    IntegrationResponses: [
      {
        StatusCode,
        ResponseParameters: { 'method.response.header.Allow': "'GET, POST'" },
        ResponseTemplates: { 'application/json': `{"status":${StatusCode}}` },
      },
    ],
  };
}

function invocationUri(arn: unknown): object {
  return {
    'Fn::Join': ['', ['arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/', arn, '/invocations']],
  };
}

export function proxyTo(arn: unknown): object {
  return { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: invocationUri(arn) };
}

export function tokenAuthorizer(functionArn: object): SampleResource {
  return resource('ApiGateway::Authorizer', {
    Type: 'TOKEN',
    AuthorizerUri: invocationUri(functionArn),
    AuthorizerResultTtlInSeconds: 60,
    IdentitySource: 'method.request.header.Authorization',
    IdentityValidationExpression: '^Bearer [a-z]+$',
  });
}

export function gatewayResponse(ResponseType: string, StatusCode: string): SampleResource {
  const body = `{"code":"${ResponseType.toLowerCase()}","message":"See $context.requestId","status":${StatusCode}}`;
  return resource('ApiGateway::GatewayResponse', {
    ResponseParameters: { 'gatewayresponse.header.Cache-Control': "'no-store'" },
    ResponseTemplates: { 'application/json': body },
    ResponseType,
    StatusCode,
  });
}

export const sampleGatewayResponses = {
  AccessDenied: gatewayResponse('ACCESS_DENIED', '401'),
  AuthorizerConfigurationError: gatewayResponse('AUTHORIZER_CONFIGURATION_ERROR', '503'),
  Default5xx: gatewayResponse('DEFAULT_5XX', '500'),
  MissingAuthenticationToken: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', '404'),
  RequestTooLarge: gatewayResponse('REQUEST_TOO_LARGE', '413'),
  Unauthorized: gatewayResponse('UNAUTHORIZED', '401'),
  UnsupportedMediaType: gatewayResponse('UNSUPPORTED_MEDIA_TYPE', '415'),
};

export function lambdaFunction(asset: string, variables = {}): SampleResource {
  return resource('Lambda::Function', {
    Code: { S3Bucket: 'assets', S3Key: `${asset}.zip` },
    Environment: { Variables: variables },
    Handler: 'index.handler',
    MemorySize: 128,
    Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
    Runtime: 'nodejs24.x',
    Timeout: 10,
  });
}

export function alias(functionId: string, Name: string): SampleResource {
  return resource('Lambda::Alias', { FunctionName: { Ref: functionId }, FunctionVersion: '1', Name });
}

export const role = resource('IAM::Role', {});

export function policy(Action: string | string[], Resource: unknown, roleId = 'Role'): SampleResource {
  const PolicyDocument = { Statement: [{ Action, Effect: 'Allow', Resource }], Version: '2012-10-17' };
  return resource('IAM::Policy', { PolicyDocument, Roles: [{ Ref: roleId }] });
}

/** Returns a table with the partition key `key` and, if `indexKey` is given, an index with the partition key `indexKey`. */
export function table(key: string, indexKey?: string): SampleResource {
  const names = indexKey ? [key, indexKey] : [key];
  const [keySchema, indexSchema] = names.map((AttributeName) => [{ AttributeName, KeyType: 'HASH' }]);
  const Projection = { ProjectionType: 'ALL' };
  return resource('DynamoDB::GlobalTable', {
    AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema,
    ...(indexSchema && {
      GlobalSecondaryIndexes: [{ IndexName: 'by-author', KeySchema: indexSchema, Projection }],
    }),
  });
}
