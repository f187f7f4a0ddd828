import { describe, expect, test } from '@jest/globals';
import {
  alias,
  gatewayResponse,
  lambdaFunction,
  method,
  mock,
  policy,
  proxyTo,
  role,
  root,
  sampleApi,
  type SampleResource,
  type SampleResources,
  table,
  templateOf,
  tokenAuthorizer,
  withProperties,
} from '../sample-resources.ts';

/** Returns the value of an environment variable of a function that the API invokes. */
function resolved(value: unknown, others: SampleResources = {}): unknown {
  const template = templateOf({
    ...sampleApi,
    ...others,
    Books: table('id'),
    Role: role,
    GetBook: lambdaFunction('get-book', { VALUE: value }),
    Authorizer: lambdaFunction('authorizer'),
    AuthorizerLive: alias('Authorizer', 'live'),
  });
  return template.resources('AWS::Lambda::Function')[0]?.properties.Environment.Variables['VALUE'];
}

describe('the emulator', () => {
  const aliasArn = 'arn:aws:lambda:us-east-1:000000000000:function:Authorizer:live';
  const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Books';
  test.each([
    ['Ref for a table', { Ref: 'Books' }, 'Books'],
    ['Ref for a stage', { Ref: 'Stage' }, 'staging'],
    ['Ref for an alias', { Ref: 'AuthorizerLive' }, aliasArn],
    ['Ref for the region', { Ref: 'AWS::Region' }, 'us-east-1'],
    ['GetAtt for a root resource', root, 'Api'],
    ['GetAtt for an ARN', { 'Fn::GetAtt': ['Books', 'Arn'] }, tableArn],
    ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'Books' }, 'b']] }, 'a/Books/b'],
    ['Split and Select', { 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
  ])('resolves %s', (_name, value, expected) => {
    expect(resolved(value)).toBe(expected);
  });

  const unresolvable = { 'Fn::If': ['Never', 1, { 'Fn::GetAtt': ['Nobody', 'Arn'] }] };
  test('lists each skipped type once, and accepts any properties of resources with a skipped type', () => {
    const types = ['AWS::CloudWatch::Alarm', 'AWS::Logs::LogGroup'];
    const resources = [...types, ...types].map((Type) => ({ Type, Properties: { Owner: unresolvable } }));
    expect(templateOf(Object.fromEntries(resources.entries())).skippedTypes).toEqual(types);
  });

  describe('names, and does not run,', () => {
    const Orders = { Type: 'AWS::SQS::Queue', Properties: { Owner: unresolvable } };

    test('a resource of a type that it does not know', () => {
      expect(templateOf({ ...sampleApi, Orders }).notRun).toEqual(['Orders (AWS::SQS::Queue)']);
    });

    test('a function that the API does not invoke, with its role, policies and table', () => {
      const Consumer = withProperties(lambdaFunction('consumer'), {
        Runtime: 'python3.13',
        Role: { 'Fn::GetAtt': ['ConsumerRole', 'Arn'] },
      });
      const ConsumerPolicy = withProperties(policy('sqs:ReceiveMessage', '*', 'ConsumerRole'), {
        PolicyDocument: { Statement: [{ Effect: 'Deny', NotAction: 'sqs:*' }] },
      });
      const ConsumerLive = withProperties(alias('Consumer', 'live'), { RoutingConfig: {} });
      const ConsumerTable = { Type: 'AWS::DynamoDB::Table', Properties: {} };
      const consumer = { Consumer, ConsumerLive, ConsumerRole: role, ConsumerPolicy, ConsumerTable };
      const invoked = { ...sampleApi, Role: role, GetBook: lambdaFunction('get-book') };
      const template = templateOf({ ...invoked, ...consumer }, ['Consumer']);
      expect(template.notRun).toEqual([
        'Consumer (AWS::Lambda::Function)',
        'ConsumerTable (AWS::DynamoDB::Table)',
      ]);
      expect(template.resources('AWS::Lambda::Function').map(({ logicalId }) => logicalId)).toEqual([
        'GetBook',
      ]);
    });
  });

  const parts = { 'Fn::Split': [':', { Ref: 'Orders' }] };
  test.each([
    ['Ref', { Ref: 'Orders' }],
    ['GetAtt', { 'Fn::GetAtt': ['Orders', 'Arn'] }],
    ['name in a Ref', { 'Fn::Select': [0, { 'Fn::Split': ['-', { 'Fn::Select': [6, parts] }] }] }],
  ])('resolves a %s to a resource of a type that it does not know to the logical id', (_kind, value) => {
    expect(resolved(value, { Orders: { Type: 'AWS::SQS::Queue', Properties: {} } })).toBe('Orders');
  });

  test('accepts any value of a property that has no effect locally, even an unresolvable reference', () => {
    const GetBook = withProperties(lambdaFunction('get-book'), { Description: unresolvable });
    const Books = withProperties(table('id'), { Replicas: [{ Region: unresolvable }] });
    const template = templateOf({ ...sampleApi, Role: role, GetBook, Books });
    expect(template.resources('AWS::Lambda::Function')).toHaveLength(1);
  });

  test('lists all unsupported types, properties and intrinsic functions in one message', () => {
    const Old = { Type: 'AWS::DynamoDB::Table', Properties: {} };
    const changes = { BillingMode: { 'Fn::If': [] }, LocalSecondaryIndexes: [], TableClass: 'STANDARD' };
    const Books = { ...withProperties(table('id'), changes), Condition: 'Sometimes' };
    const GetBook = lambdaFunction('get-book', {
      TABLES: { 'Fn::Join': [',', [{ Ref: 'Books' }, { Ref: 'Old' }]] },
    });
    const Inline = { Type: 'AWS::IAM::ManagedPolicy', Properties: { Roles: [{ Ref: 'Role' }] } };
    const message =
      'The emulator does not support parts of the stack: ' +
      'Old: the type AWS::DynamoDB::Table; ' +
      'Books (AWS::DynamoDB::GlobalTable): Condition: not supported; ' +
      'Books (AWS::DynamoDB::GlobalTable): BillingMode: the intrinsic function Fn::If; ' +
      'Books (AWS::DynamoDB::GlobalTable): LocalSecondaryIndexes: not supported; ' +
      'Books (AWS::DynamoDB::GlobalTable): TableClass: not supported; ' +
      'Inline: the type AWS::IAM::ManagedPolicy. ' +
      'Extend resources.ts or intrinsics.ts in infra/local/emulator/template.';
    expect(() => templateOf({ Old, Books, Inline, Role: role, GetBook })).toThrow(message);
  });

  const getBook = lambdaFunction('get-book');
  const authorizer = tokenAuthorizer({ 'Fn::GetAtt': ['GetBook', 'Arn'] });
  const stage = sampleApi.Stage;
  const response = gatewayResponse('DEFAULT_5XX', '500');
  const Deny = { Action: 'dynamodb:GetItem', Effect: 'Deny', Resource: '*' };
  const unquoted = { ResponseParameters: { 'header.Origin': 'method.request.header.Origin' } };
  const withError = { ResponseTemplates: { 'application/json': '{"message":"$context.error.message"}' } };
  const withPath = { ...mock('404'), RequestTemplates: { 'a/b': '{"statusCode":$input.path("$")}' } };
  const foreign = proxyTo('arn:aws:lambda:us-east-1:123456789012:function:Other');
  test.each<[string, SampleResource, object]>([
    // AWS has defaults for some of these properties, but the stacks always contain them, so the emulator has no defaults.
    ['Timeout: Invalid key', getBook, { Timeout: undefined }],
    ['AuthorizerId: Invalid key', method('root', 'GET'), { AuthorizationType: 'CUSTOM' }],
    ['AuthorizerId: not supported', method('root', 'GET'), { AuthorizerId: { Ref: 'Authorizer' } }],
    ['AuthorizerResultTtlInSeconds: Invalid key', authorizer, { AuthorizerResultTtlInSeconds: undefined }],
    ['StageName: Invalid key', stage, { StageName: undefined }],
    ['Runtime: Invalid type', getBook, { Runtime: 'nodejs22.x' }],
    ['MethodSettings.0.CachingEnabled: not supported', stage, { MethodSettings: [{ CachingEnabled: true }] }],
    ['PolicyDocument.Statement.0.Effect: ', policy([], []), { PolicyDocument: { Statement: [Deny] } }],
    ['ResponseParameters.header.Origin: only a value in single quotes', response, unquoted],
    ['ResponseTemplates.application/json: only the variable $context.requestId', response, withError],
    ['Integration.Uri: only a function of the same stack', method(root, 'GET', foreign), {}],
    ['Integration.RequestTemplates.a/b: only a template with a status', method(root, 'ANY', withPath), {}],
  ])('rejects a resource with the problem %s', (problem, resource, changes) => {
    const Changed = withProperties(resource, changes);
    const others = { ...sampleApi, Role: role, GetBook: getBook };
    expect(() => templateOf({ ...others, Changed })).toThrow(`: Changed (${resource.Type}): ${problem}`);
  });

  test.each<[object, string]>([
    [{ 'Fn::Sub': '${Books}' }, 'the intrinsic function Fn::Sub'],
    [
      { 'Fn::GetAtt': ['Books', 'StreamArn'] },
      'the attribute StreamArn of Books (AWS::DynamoDB::GlobalTable)',
    ],
    [{ Ref: 'AWS::StackName' }, 'a reference to AWS::StackName'],
    [{ 'Fn::Select': [1, ['a']] }, 'Fn::Select of a missing element'],
    [{ 'Fn::Join': ['', ['a', { Ref: 'Nobody' }]] }, 'a reference to Nobody'],
  ])('rejects the value %j', (value, problem) => {
    expect(() => resolved(value)).toThrow(
      `GetBook (AWS::Lambda::Function): Environment.Variables.VALUE: ${problem}`,
    );
  });
});
