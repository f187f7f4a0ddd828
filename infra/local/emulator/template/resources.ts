import * as v from 'valibot';

// The models reject properties that they do not list, so that no property is ignored by mistake. Properties that have
// no effect on the emulator are listed as ignored.

const anything = v.optional(v.unknown());
const text = v.string();
const stringMap = v.record(v.string(), v.string());

function ignored<Name extends string>(...names: Name[]): Record<Name, typeof anything> {
  return Object.fromEntries(names.map((name) => [name, anything])) as Record<Name, typeof anything>;
}

export function stringOrList(): v.GenericSchema<string | string[], string[]> {
  return v.pipe(
    v.union([text, v.array(text)]),
    v.transform((value) => [value].flat()),
  );
}

/** Headers whose values are literals in single quotes. */
const staticHeaders = v.optional(
  v.record(text, v.pipe(text, v.regex(/^'[^']*'$/, 'only a value in single quotes is supported'))),
  {},
);

const literalTemplate = v.pipe(text, v.regex(/^[^$#]*$/, 'only literal text is supported'));

const gatewayTemplate = v.pipe(
  text,
  v.regex(/^(?:[^$]|\$context\.requestId(?![\w.]))*$/, 'only the variable $context.requestId is supported'),
);

const Statement = v.strictObject({
  Action: stringOrList(),
  Effect: v.literal('Allow'),
  Resource: stringOrList(),
});

const KeySchema = v.array(v.strictObject({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) }));

const throughput = ignored(
  'ReadOnDemandThroughputSettings',
  'WarmThroughput',
  'WriteOnDemandThroughputSettings',
);

const ProxyIntegration = v.strictObject({
  Type: v.literal('AWS_PROXY'),
  IntegrationHttpMethod: v.literal('POST'),
  Uri: text,
});

const MockIntegration = v.pipe(
  v.strictObject({
    Type: v.literal('MOCK'),
    PassthroughBehavior: v.literal('NEVER'),
    RequestTemplates: stringMap,
    IntegrationResponses: v.strictTuple([
      v.strictObject({
        StatusCode: text,
        ResponseParameters: staticHeaders,
        ResponseTemplates: v.strictObject({ 'application/json': literalTemplate }),
      }),
    ]),
  }),
  v.check(
    ({ RequestTemplates, IntegrationResponses: [{ StatusCode }] }) =>
      Object.values(RequestTemplates).every((template) => template === `{"statusCode":${StatusCode}}`),
    'only request templates that select the status of the response are supported',
  ),
);

/** Models of the resource types that the emulator runs, with their supported properties. */
export const resourceModels = {
  'AWS::ApiGateway::Authorizer': v.strictObject({
    Type: v.literal('TOKEN'),
    AuthorizerUri: text,
    AuthorizerResultTtlInSeconds: v.number(),
    IdentitySource: v.literal('method.request.header.Authorization'),
    IdentityValidationExpression: text,
    ...ignored('Name'),
  }),
  'AWS::ApiGateway::GatewayResponse': v.strictObject({
    ResponseType: text,
    StatusCode: text,
    ResponseParameters: staticHeaders,
    ResponseTemplates: v.strictObject({ 'application/json': gatewayTemplate }),
  }),
  'AWS::ApiGateway::Method': v.strictObject({
    AuthorizationType: v.picklist(['CUSTOM', 'NONE']),
    AuthorizerId: v.optional(text),
    HttpMethod: text,
    Integration: v.variant('Type', [ProxyIntegration, MockIntegration]),
    ResourceId: text,
    ...ignored('MethodResponses', 'OperationName'),
  }),
  'AWS::ApiGateway::Resource': v.strictObject({ ParentId: text, PathPart: text }),
  'AWS::ApiGateway::RestApi': v.strictObject({
    ...ignored('DisableExecuteApiEndpoint', 'EndpointAccessMode', 'EndpointConfiguration'),
    ...ignored('Name', 'SecurityPolicy'),
  }),
  'AWS::ApiGateway::Stage': v.strictObject({
    // The emulator does not throttle requests, so that developers can run load tests.
    MethodSettings: v.optional(v.array(v.object({ CachingEnabled: v.optional(v.literal(false)) }))),
    StageName: text,
    // The cache cluster can be ignored, because it has no effect without `CachingEnabled`.
    ...ignored('AccessLogSetting', 'CacheClusterEnabled', 'CacheClusterSize', 'DeploymentId'),
    ...ignored('TracingEnabled'),
  }),
  'AWS::DynamoDB::GlobalTable': v.strictObject({
    AttributeDefinitions: v.array(v.strictObject({ AttributeName: text, AttributeType: text })),
    BillingMode: v.literal('PAY_PER_REQUEST'),
    GlobalSecondaryIndexes: v.optional(
      v.array(
        v.strictObject({
          IndexName: text,
          KeySchema,
          Projection: v.strictObject({ ProjectionType: v.literal('ALL') }),
          ...throughput,
        }),
      ),
      [],
    ),
    KeySchema,
    // The functions check the expiry themselves, so the emulator does not delete expired items.
    ...ignored('TimeToLiveSpecification'),
    ...throughput,
    ...ignored('Replicas', 'SSESpecification', 'StreamSpecification'),
  }),
  'AWS::IAM::Policy': v.strictObject({
    PolicyDocument: v.strictObject({ Statement: v.array(Statement), Version: v.literal('2012-10-17') }),
    Roles: v.array(text),
    ...ignored('PolicyName'),
  }),
  // Managed policies grant nothing here, so a function whose table access depends on one is denied.
  'AWS::IAM::Role': v.strictObject(
    ignored('AssumeRolePolicyDocument', 'ManagedPolicyArns', 'MaxSessionDuration'),
  ),
  'AWS::Lambda::Alias': v.strictObject({
    FunctionName: text,
    Name: text,
    ...ignored('FunctionVersion', 'ProvisionedConcurrencyConfig'),
  }),
  'AWS::Lambda::Function': v.strictObject({
    Code: v.strictObject({ S3Key: text, ...ignored('S3Bucket') }),
    Environment: v.optional(v.strictObject({ Variables: stringMap }), { Variables: {} }),
    Handler: text,
    MemorySize: v.optional(v.number(), 128),
    Role: text,
    Runtime: v.literal('nodejs24.x'),
    Timeout: v.optional(v.number(), 3),
    ...ignored('Architectures', 'EphemeralStorage', 'KmsKeyArn', 'LoggingConfig', 'RecursiveLoop'),
    ...ignored('ReservedConcurrentExecutions', 'SnapStart', 'TracingConfig', 'VpcConfig'),
  }),
  'AWS::Lambda::Version': v.strictObject({
    FunctionName: text,
    ...ignored('ProvisionedConcurrencyConfig'),
  }),
} as const;

export type ResourceType = keyof typeof resourceModels;

const IGNORED_PROPERTIES = new Set(['Description', 'PermissionsBoundary', 'RestApiId', 'Tags']);

export function isIgnoredProperty(type: ResourceType, property: string): boolean {
  const { entries } = resourceModels[type] as { entries: Record<string, unknown> };
  return IGNORED_PROPERTIES.has(property) || entries[property] === anything;
}

/** Resource types that are not run, because they only monitor, deploy, name or protect a stage. */
const NOT_RUN =
  /^AWS::(?:(?:Backup|Budgets|CDK|CertificateManager|CloudWatch|CodeDeploy|Events|KMS|Logs|Route53|SNS|WAFv2|XRay)::|(?:ApiGateway::(?:Account|BasePathMapping|Deployment|DomainName)|Lambda::Permission)$)/;

export function isNotRun(type: string): boolean {
  return NOT_RUN.test(type);
}
