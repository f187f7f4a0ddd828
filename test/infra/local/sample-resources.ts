import { parseTemplate, type Template } from '../../../infra/local/template/template.ts';

// Resources as the CDK would synthesize them, for templates smaller than a stage's.

export interface SampleResource {
  Type: string;
  Properties: Record<string, unknown>;
}
export type SampleResources = Record<string, SampleResource>;

export function templateOf(resources: SampleResources): Template {
  return parseTemplate(JSON.stringify({ Resources: resources }));
}

export const sampleApi: SampleResources = {
  Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'Api' } },
  Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'sample' } },
};

export const root = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };

export function pathResource(ParentId: unknown, PathPart: string): SampleResource {
  return { Type: 'AWS::ApiGateway::Resource', Properties: { ParentId, PathPart } };
}

export function method(
  ResourceId: unknown,
  HttpMethod: string,
  Integration: unknown = mock(),
): SampleResource {
  return {
    Type: 'AWS::ApiGateway::Method',
    Properties: { AuthorizationType: 'NONE', HttpMethod, ResourceId, Integration },
  };
}

export function guarded({ Type, Properties }: SampleResource): SampleResource {
  return {
    Type,
    Properties: { ...Properties, AuthorizationType: 'CUSTOM', AuthorizerId: { Ref: 'Authorizer' } },
  };
}

export function mock(StatusCode = '404', mediaTypes: readonly string[] = ['application/json']): object {
  return {
    Type: 'MOCK',
    PassthroughBehavior: 'NEVER',
    RequestTemplates: Object.fromEntries(
      mediaTypes.map((mediaType) => [mediaType, `{"statusCode":${StatusCode}}`]),
    ),
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

/** @param arn of the function, or of its alias. */
export function proxyTo(arn: unknown): object {
  return { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: invocationUri(arn) };
}

export function tokenAuthorizer(functionArn: object): SampleResource {
  return {
    Type: 'AWS::ApiGateway::Authorizer',
    Properties: {
      Type: 'TOKEN',
      AuthorizerUri: invocationUri(functionArn),
      AuthorizerResultTtlInSeconds: 60,
      IdentitySource: 'method.request.header.Authorization',
      IdentityValidationExpression: '^Bearer [a-z]+$',
    },
  };
}

/** Lets API Gateway invoke the function, or its alias, for what follows the API's id in the ARN. */
export function permission(FunctionName: object, source: string): SampleResource {
  return {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName,
      Principal: 'apigateway.amazonaws.com',
      SourceArn: { 'Fn::Sub': `arn:aws:execute-api:us-east-1:\${AWS::AccountId}:\${Api}/${source}` },
    },
  };
}

export function gatewayResponse(
  ResponseType: string,
  StatusCode: string,
  headers: Record<string, string> = {},
): SampleResource {
  const body = `{"code":"${ResponseType.toLowerCase()}","message":"See $context.requestId","status":${StatusCode}}`;
  return {
    Type: 'AWS::ApiGateway::GatewayResponse',
    Properties: {
      ResponseType,
      StatusCode,
      ResponseParameters: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, `'${value}'`]),
      ),
      ResponseTemplates: { 'application/json': body },
    },
  };
}

/** The gateway responses without which the local service does not start. */
export const sampleGatewayResponses: SampleResources = Object.fromEntries(
  Object.entries({
    ACCESS_DENIED: '401',
    AUTHORIZER_CONFIGURATION_ERROR: '503',
    DEFAULT_4XX: '400',
    DEFAULT_5XX: '500',
    MISSING_AUTHENTICATION_TOKEN: '404',
    REQUEST_TOO_LARGE: '413',
    UNAUTHORIZED: '401',
    UNSUPPORTED_MEDIA_TYPE: '415',
  }).map(([type, status]) => [type.replaceAll('_', ''), gatewayResponse(type, status)]),
);

/** A function whose bundle is the asset of the same name. */
export function lambdaFunction(asset: string, timeoutSeconds = 10, variables = {}): SampleResource {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Bucket: 'assets', S3Key: `${asset}.zip` },
      Environment: { Variables: variables },
      Handler: 'index.handler',
      MemorySize: 128,
      Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
      Runtime: 'nodejs24.x',
      Timeout: timeoutSeconds,
    },
  };
}

/** An alias as CodeDeploy shifts it: its properties name a version. */
export function alias(functionId: string, Name: string): SampleResource {
  return {
    Type: 'AWS::Lambda::Alias',
    Properties: { FunctionName: { Ref: functionId }, FunctionVersion: '1', Name },
  };
}

export const role: SampleResource = { Type: 'AWS::IAM::Role', Properties: {} };

export function policy(Action: string | string[], Resource: unknown, roleId = 'Role'): SampleResource {
  return {
    Type: 'AWS::IAM::Policy',
    Properties: {
      PolicyDocument: { Statement: [{ Action, Effect: 'Allow', Resource }], Version: '2012-10-17' },
      Roles: [{ Ref: roleId }],
    },
  };
}

/** A table with a partition key and, where given, an index whose partition key is `indexKey`. */
export function table(key: string, indexKey?: string): SampleResource {
  const names = indexKey ? [key, indexKey] : [key];
  const index = {
    IndexName: 'by-index-key',
    KeySchema: [{ AttributeName: indexKey, KeyType: 'HASH' }],
    Projection: { ProjectionType: 'ALL' },
  };
  return {
    Type: 'AWS::DynamoDB::GlobalTable',
    Properties: {
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
      ...(indexKey && { GlobalSecondaryIndexes: [index] }),
    },
  };
}
