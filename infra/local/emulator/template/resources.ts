import * as v from 'valibot';

const text = v.string();

/** Schema of a property that has no effect in the emulator. Any value is accepted, even an unresolvable reference. */
const ignored = v.optional(v.unknown());

/** Returns a schema that rejects all properties that `entries` does not contain. */
function model<Entries extends v.ObjectEntries>(entries: Entries) {
  // `strictObject` would report only the first of several unknown properties.
  const schema = v.objectWithRest(entries, v.never());
  return schema as unknown as v.StrictObjectSchema<Entries, undefined>;
}

/** Returns the schema of a text that matches `pattern`. `supported` describes such texts in the error message. */
function textLike(pattern: RegExp, supported: string) {
  return v.pipe(text, v.regex(pattern, `only ${supported} is supported`));
}

/** Schema of a text or a list of texts. The parsed value is a list. */
export const stringOrList = v.pipe(
  v.unknown(),
  v.transform((value) => [value].flat()),
  v.array(text),
);

const staticHeaders = v.record(text, textLike(/^'[^']*'$/, 'a value in single quotes'));

/** Integration URI of a function in the stack. Only such functions have the emulator's account id, 12 zeros. */
const functionUri = textLike(/:0{12}:function:\w+(?::\w+)?\/invocations$/, 'a function of the same stack');

const ProxyIntegration = model({
  Type: v.literal('AWS_PROXY'),
  IntegrationHttpMethod: v.literal('POST'),
  Uri: functionUri,
});

const MockIntegration = model({
  Type: v.literal('MOCK'),
  PassthroughBehavior: v.literal('NEVER'),
  // The request template selects a status. The emulator ignores the status, because it supports one response per mock.
  RequestTemplates: v.record(text, textLike(/^\{"statusCode":\d{3}\}$/, 'a template with a status')),
  IntegrationResponses: v.strictTuple([
    model({
      StatusCode: text,
      ResponseParameters: staticHeaders,
      ResponseTemplates: model({ 'application/json': textLike(/^[^$#]*$/, 'literal text') }),
    }),
  ]),
});

const methodEntries = {
  HttpMethod: text,
  Integration: v.variant('Type', [ProxyIntegration, MockIntegration]),
  MethodResponses: ignored,
  ResourceId: text,
  RestApiId: ignored,
};

const templateWithRequestId = textLike(
  /^(?:[^$]|\$context\.requestId(?![\w.]))*$/,
  'the variable $context.requestId',
);

const KeySchema = v.array(model({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) }));

const Index = model({
  IndexName: text,
  KeySchema,
  Projection: model({ ProjectionType: v.literal('ALL') }),
  WarmThroughput: ignored,
  WriteOnDemandThroughputSettings: ignored,
});

const Statement = model({ Action: stringOrList, Effect: v.literal('Allow'), Resource: stringOrList });

/**
 * Models of the resource types that the emulator runs. The emulator rejects properties that a model does not contain,
 * so that no property is ignored by mistake.
 */
export const resourceModels = {
  'AWS::ApiGateway::Authorizer': model({
    AuthorizerResultTtlInSeconds: v.number(),
    AuthorizerUri: functionUri,
    IdentitySource: v.literal('method.request.header.Authorization'),
    IdentityValidationExpression: text,
    Name: ignored,
    RestApiId: ignored,
    Type: v.literal('TOKEN'),
  }),
  'AWS::ApiGateway::GatewayResponse': model({
    ResponseParameters: staticHeaders,
    ResponseTemplates: model({ 'application/json': templateWithRequestId }),
    ResponseType: text,
    RestApiId: ignored,
    StatusCode: text,
  }),
  'AWS::ApiGateway::Method': v.variant('AuthorizationType', [
    model({ AuthorizationType: v.literal('CUSTOM'), AuthorizerId: text, ...methodEntries }),
    model({ AuthorizationType: v.literal('NONE'), ...methodEntries }),
  ]),
  'AWS::ApiGateway::Resource': model({
    ParentId: text,
    PathPart: text,
    RestApiId: ignored,
  }),
  'AWS::ApiGateway::RestApi': model({
    Description: ignored,
    DisableExecuteApiEndpoint: ignored,
    EndpointAccessMode: ignored,
    EndpointConfiguration: ignored,
    Name: ignored,
    SecurityPolicy: ignored,
  }),
  'AWS::ApiGateway::Stage': model({
    AccessLogSetting: ignored,
    DeploymentId: ignored,
    MethodSettings: v.array(
      model({
        DataTraceEnabled: ignored,
        HttpMethod: ignored,
        LoggingLevel: ignored,
        ResourcePath: ignored,
        // The emulator does not throttle requests, so that developers can run load tests.
        ThrottlingBurstLimit: ignored,
        ThrottlingRateLimit: ignored,
      }),
    ),
    RestApiId: ignored,
    StageName: text,
    TracingEnabled: ignored,
  }),
  'AWS::DynamoDB::GlobalTable': model({
    AttributeDefinitions: v.array(model({ AttributeName: text, AttributeType: text })),
    BillingMode: v.literal('PAY_PER_REQUEST'),
    GlobalSecondaryIndexes: v.optional(v.array(Index), []),
    KeySchema,
    Replicas: ignored,
    StreamSpecification: ignored,
    TimeToLiveSpecification: ignored,
    WarmThroughput: ignored,
    WriteOnDemandThroughputSettings: ignored,
  }),
  'AWS::IAM::Policy': model({
    PolicyDocument: model({ Statement: v.array(Statement), Version: v.literal('2012-10-17') }),
    PolicyName: ignored,
    Roles: v.array(text),
  }),
  'AWS::IAM::Role': model({
    AssumeRolePolicyDocument: ignored,
    ManagedPolicyArns: ignored,
    PermissionsBoundary: ignored,
  }),
  'AWS::Lambda::Alias': model({
    Description: ignored,
    FunctionName: text,
    FunctionVersion: ignored,
    Name: text,
  }),
  'AWS::Lambda::Function': model({
    Architectures: ignored,
    Code: model({ S3Bucket: ignored, S3Key: text }),
    Description: ignored,
    Environment: model({ Variables: v.record(text, text) }),
    Handler: text,
    LoggingConfig: ignored,
    MemorySize: v.number(),
    Role: text,
    Runtime: v.literal('nodejs24.x'),
    RuntimeManagementConfig: ignored,
    Timeout: v.number(),
    TracingConfig: ignored,
  }),
  'AWS::Lambda::Version': model({ FunctionName: text, RuntimePolicy: ignored }),
};

export type ResourceType = keyof typeof resourceModels;

export function isModeled(type: string): type is ResourceType {
  return Object.hasOwn(resourceModels, type);
}

/** Resource types that are not run, because they only monitor, deploy, name or protect a stack. */
export const SKIPPED_TYPES = new Set([
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::CertificateManager::Certificate',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::Events::Rule',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::Route53::RecordSet',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::WAFv2::LoggingConfiguration',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
]);
