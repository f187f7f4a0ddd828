import * as v from 'valibot';

/** Properties that have no effect in the emulator, unless a model below contains the property. */
const WITHOUT_EFFECT = `
  Description Name OperationName PolicyName Tags
  AccessLogSetting LoggingConfig MethodResponses TracingConfig TracingEnabled
  AssumeRolePolicyDocument KmsKeyArn ManagedPolicyArns MaxSessionDuration PermissionsBoundary SSESpecification
  DisableExecuteApiEndpoint EndpointAccessMode EndpointConfiguration RestApiId SecurityPolicy VpcConfig
  CacheClusterEnabled CacheClusterSize DeploymentId FunctionVersion ProvisionedConcurrencyConfig S3Bucket
  Architectures EphemeralStorage RecursiveLoop ReservedConcurrentExecutions SnapStart
  ReadOnDemandThroughputSettings WarmThroughput WriteOnDemandThroughputSettings
  Replicas StreamSpecification TimeToLiveSpecification`;

const ignored = v.entriesFromList(WITHOUT_EFFECT.match(/\w+/g)!, v.optional(v.unknown()));

/** Returns a schema that rejects all properties that neither `entries` nor WITHOUT_EFFECT contains. */
function model<Entries extends v.ObjectEntries>(entries: Entries) {
  // `strictObject` would report only the first of several unknown properties.
  const schema = v.objectWithRest({ ...ignored, ...entries }, v.never());
  return schema as unknown as v.StrictObjectSchema<Entries, undefined>;
}

const text = v.string();

function textLike(pattern: RegExp, supported: string) {
  return v.pipe(text, v.regex(pattern, `only ${supported} is supported`));
}

export const stringOrList = v.pipe(
  v.unknown(),
  v.transform((value) => [value].flat()),
  v.array(text),
);

const staticHeaders = v.optional(v.record(text, textLike(/^'[^']*'$/, 'a value in single quotes')), {});

const template = textLike(/^(?:[^$]|\$context\.requestId(?![\w.]))*$/, 'the variable $context.requestId');

/** Integration URI of a function in the stack. Only such functions have the emulator's account id, 12 zeros. */
const functionUri = textLike(/:0{12}:function:\w+(?::\w+)?\/invocations$/, 'a function of the same stack');

const Statement = model({ Action: stringOrList, Effect: v.literal('Allow'), Resource: stringOrList });

const KeySchema = v.array(model({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) }));

const Index = model({ IndexName: text, KeySchema, Projection: model({ ProjectionType: v.literal('ALL') }) });

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

/** Models of the resource types that the emulator runs, with their supported properties. */
export const resourceModels = {
  'AWS::ApiGateway::Authorizer': model({
    Type: v.literal('TOKEN'),
    AuthorizerUri: functionUri,
    AuthorizerResultTtlInSeconds: v.optional(v.number(), 300),
    IdentitySource: v.literal('method.request.header.Authorization'),
    IdentityValidationExpression: v.optional(text, ''),
  }),
  'AWS::ApiGateway::GatewayResponse': model({
    ResponseType: text,
    StatusCode: text,
    ResponseParameters: staticHeaders,
    ResponseTemplates: model({ 'application/json': template }),
  }),
  'AWS::ApiGateway::Method': model({
    AuthorizationType: v.picklist(['CUSTOM', 'NONE']),
    AuthorizerId: v.optional(text),
    HttpMethod: text,
    Integration: v.variant('Type', [ProxyIntegration, MockIntegration]),
    ResourceId: text,
  }),
  'AWS::ApiGateway::Resource': model({ ParentId: text, PathPart: text }),
  'AWS::ApiGateway::RestApi': model({}),
  'AWS::ApiGateway::Stage': model({
    // The emulator does not throttle requests, so that developers can run load tests.
    MethodSettings: v.optional(v.array(v.object({ CachingEnabled: v.optional(v.literal(false)) }))),
    StageName: text,
  }),
  'AWS::DynamoDB::GlobalTable': model({
    AttributeDefinitions: v.array(model({ AttributeName: text, AttributeType: text })),
    BillingMode: v.literal('PAY_PER_REQUEST'),
    GlobalSecondaryIndexes: v.optional(v.array(Index), []),
    KeySchema,
  }),
  'AWS::IAM::Policy': model({
    PolicyDocument: model({ Statement: v.array(Statement), Version: v.literal('2012-10-17') }),
    Roles: v.array(text),
  }),
  'AWS::IAM::Role': model({}),
  'AWS::Lambda::Alias': model({ FunctionName: text, Name: text }),
  'AWS::Lambda::Function': model({
    Code: model({ S3Key: text }),
    Environment: v.optional(model({ Variables: v.record(text, text) }), { Variables: {} }),
    Handler: text,
    MemorySize: v.optional(v.number(), 128),
    Role: text,
    Runtime: v.literal('nodejs24.x'),
    Timeout: v.optional(v.number(), 3),
  }),
  'AWS::Lambda::Version': model({ FunctionName: text }),
};

export type ResourceType = keyof typeof resourceModels;

/** Resource types that are not run, because they only monitor, deploy, name or protect a stack. */
export const SKIPPED_TYPES =
  /^AWS::(?:(?:Backup|Budgets|CDK|CertificateManager|CloudWatch|CodeDeploy|Events|KMS|Logs|Route53|SNS|WAFv2|XRay)::|(?:ApiGateway::(?:Account|BasePathMapping|Deployment|DomainName)|Lambda::Permission)$)/;
