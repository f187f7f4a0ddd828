import * as v from 'valibot';

// The models are strict: a property that is not listed is refused, so that nothing of the template is ignored
// unawares. What has no meaning on one machine is listed as `passedOver`.

const passedOver = v.optional(v.unknown());
const text = v.string();
const stringMap = v.record(v.string(), v.string());

export function stringOrList(): v.GenericSchema<string | string[], string[]> {
  return v.pipe(
    v.union([text, v.array(text)]),
    v.transform((value) => [value].flat()),
  );
}

/** A scalar where API Gateway makes a string of it. */
export const scalarAsText = v.pipe(v.union([text, v.number(), v.boolean()]), v.transform(String));

/** A mapping to headers whose values are written in it, `'in single quotes'`; read as values by header name. */
function staticHeaders(
  prefix: string,
): v.GenericSchema<Record<string, string> | undefined, Record<string, string>> {
  const mapping = v.record(
    v.pipe(text, v.startsWith(prefix)),
    v.pipe(text, v.regex(/^'[^']*'$/, 'only a value in single quotes is modelled')),
  );
  return v.pipe(
    v.optional(mapping, {}),
    v.transform((parameters) =>
      Object.fromEntries(
        Object.entries(parameters).map(([name, value]) => [name.slice(prefix.length), value.slice(1, -1)]),
      ),
    ),
  );
}

/** Template text in which nothing is replaced but, where it is allowed, the request id. */
const literalTemplate = v.pipe(text, v.regex(/^[^$#]*$/, 'only literal text is modelled'));
const gatewayTemplate = v.pipe(
  text,
  v.regex(/^(?:[^$]|\$context\.requestId(?![\w.]))*$/, 'only the variable $context.requestId is modelled'),
);

const Statement = v.strictObject({
  Action: stringOrList(),
  Effect: v.literal('Allow'),
  Resource: stringOrList(),
});

const KeySchema = v.array(v.strictObject({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) }));

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
        ResponseParameters: staticHeaders('method.response.header.'),
        ResponseTemplates: v.strictObject({ 'application/json': literalTemplate }),
      }),
    ]),
  }),
  v.check(
    ({ RequestTemplates, IntegrationResponses: [{ StatusCode }] }) =>
      Object.values(RequestTemplates).every((template) => template === `{"statusCode":${StatusCode}}`),
    'only request templates that choose the status of the one response are modelled',
  ),
);

/** Every type of resource that the local service knows, with all of its properties that it understands. */
export const resourceModels = {
  'AWS::ApiGateway::Authorizer': v.strictObject({
    Type: v.literal('TOKEN'),
    AuthorizerUri: text,
    AuthorizerResultTtlInSeconds: v.number(),
    IdentitySource: v.literal('method.request.header.Authorization'),
    IdentityValidationExpression: text,
    Name: passedOver,
    RestApiId: passedOver,
  }),
  'AWS::ApiGateway::Deployment': v.strictObject({ Description: passedOver, RestApiId: passedOver }),
  'AWS::ApiGateway::GatewayResponse': v.strictObject({
    ResponseType: text,
    StatusCode: text,
    ResponseParameters: staticHeaders('gatewayresponse.header.'),
    ResponseTemplates: v.strictObject({ 'application/json': gatewayTemplate }),
    RestApiId: passedOver,
  }),
  'AWS::ApiGateway::Method': v.strictObject({
    AuthorizationType: v.picklist(['CUSTOM', 'NONE']),
    AuthorizerId: v.optional(text),
    HttpMethod: text,
    Integration: v.variant('Type', [ProxyIntegration, MockIntegration]),
    MethodResponses: passedOver,
    ResourceId: text,
    RestApiId: passedOver,
  }),
  'AWS::ApiGateway::Resource': v.strictObject({ ParentId: text, PathPart: text, RestApiId: passedOver }),
  'AWS::ApiGateway::RestApi': v.strictObject({
    Description: passedOver,
    DisableExecuteApiEndpoint: passedOver,
    EndpointAccessMode: passedOver,
    EndpointConfiguration: passedOver,
    Name: text,
    SecurityPolicy: passedOver,
  }),
  'AWS::ApiGateway::Stage': v.strictObject({
    AccessLogSetting: v.optional(v.strictObject({ DestinationArn: passedOver, Format: text })),
    DeploymentId: passedOver,
    MethodSettings: v.optional(
      v.array(
        v.strictObject({
          DataTraceEnabled: passedOver,
          HttpMethod: passedOver,
          LoggingLevel: passedOver,
          ResourcePath: passedOver,
          // Nobody is throttled here, where one's own load tests run.
          ThrottlingBurstLimit: passedOver,
          ThrottlingRateLimit: passedOver,
        }),
      ),
    ),
    RestApiId: passedOver,
    StageName: text,
    TracingEnabled: passedOver,
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
          WriteOnDemandThroughputSettings: passedOver,
        }),
      ),
      [],
    ),
    KeySchema,
    Replicas: passedOver,
    // What an item's time means is up to the functions: the table only cleans up, some time after it.
    TimeToLiveSpecification: passedOver,
    WriteOnDemandThroughputSettings: passedOver,
  }),
  'AWS::IAM::Policy': v.strictObject({
    PolicyDocument: v.strictObject({ Statement: v.array(Statement), Version: v.literal('2012-10-17') }),
    PolicyName: passedOver,
    Roles: v.array(text),
  }),
  'AWS::IAM::Role': v.strictObject({ AssumeRolePolicyDocument: passedOver }),
  'AWS::Lambda::Alias': v.strictObject({ FunctionName: text, FunctionVersion: passedOver, Name: text }),
  'AWS::Lambda::Function': v.strictObject({
    Architectures: passedOver,
    Code: v.strictObject({ S3Bucket: passedOver, S3Key: text }),
    Description: passedOver,
    Environment: v.strictObject({ Variables: stringMap }),
    Handler: text,
    LoggingConfig: passedOver,
    MemorySize: v.number(),
    Role: text,
    Runtime: v.literal('nodejs24.x'),
    Timeout: v.number(),
    TracingConfig: passedOver,
  }),
  'AWS::Lambda::Permission': v.strictObject({
    Action: v.literal('lambda:InvokeFunction'),
    FunctionName: text,
    Principal: v.literal('apigateway.amazonaws.com'),
    SourceArn: text,
  }),
  'AWS::Lambda::Version': v.strictObject({ FunctionName: text }),
  'AWS::Logs::LogGroup': v.strictObject({ RetentionInDays: passedOver }),
} as const;

/** Types without a part in how a request is answered on one machine: what watches, deploys and protects a stage. */
export const typesNotRunHere: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::DomainName',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::Logs::MetricFilter',
  'AWS::Route53::RecordSet',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
]);

export type ResourceType = keyof typeof resourceModels;
