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
  table,
  templateOf,
  withProperties,
} from '../sample-resources.ts';

function resolved(value: unknown): unknown {
  const template = templateOf({
    ...sampleApi,
    Data: table('id'),
    Role: role,
    Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
    OtherLive: alias('Other', 'live'),
    Function: lambdaFunction('asset', { VALUE: value }),
    Other: lambdaFunction('other'),
  });
  return template.resources('AWS::Lambda::Function')[0]?.properties.Environment.Variables['VALUE'];
}

describe('parseTemplate', () => {
  const aliasArn = 'arn:aws:lambda:us-east-1:000000000000:function:Other:live';
  const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Data';
  test.each([
    ['Ref for a stage', { Ref: 'Stage' }, 'sample'],
    ['Ref for an alias', { Ref: 'OtherLive' }, aliasArn],
    ['GetAtt for a root resource', root, 'Api'],
    ['GetAtt for an ARN', { 'Fn::GetAtt': ['Data', 'Arn'] }, tableArn],
    ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'Data' }, { Ref: 'AWS::NoValue' }, 'b']] }, 'a/Data/b'],
    ['Split and Select', { 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    ['Sub', { 'Fn::Sub': '${Data} in ${AWS::Region}, ${OtherLive}' }, `Data in us-east-1, ${aliasArn}`],
  ])('resolves %s', (_name, value, expected) => {
    expect(resolved(value)).toBe(expected);
  });

  const unresolvable = { 'Fn::If': ['Never', 1, { 'Fn::GetAtt': ['Nobody', 'Arn'] }] };
  test('lists each skipped type once, and accepts any properties of resources with a skipped type', () => {
    const types = ['AWS::ApiGateway::DomainName', 'AWS::Backup::BackupPlan', 'AWS::Logs::LogGroup'];
    const resources = [...types, ...types].map((Type) => ({ Type, Properties: { Owner: unresolvable } }));
    expect(templateOf(Object.fromEntries(resources.entries())).skippedTypes).toEqual(types);
  });

  test('accepts any value of a property that has no effect locally, even an unresolvable reference', () => {
    const Function = withProperties(lambdaFunction('asset'), { KmsKeyArn: unresolvable, Tags: unresolvable });
    const Stage = withProperties(sampleApi.Stage, { CacheClusterEnabled: true, Description: 'a stage' });
    const Data = withProperties(table('id'), { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } });
    expect(templateOf({ Role: role, Function, Stage, Data }).skippedTypes).toEqual([]);
  });

  test('lists all unsupported types, properties and intrinsic functions in one message', () => {
    const Queue = { Type: 'AWS::SQS::Queue', Properties: {} };
    const changes = { BillingMode: { 'Fn::If': [] }, LocalSecondaryIndexes: [] };
    const Data = { ...withProperties(table('id'), changes), Condition: 'Sometimes' };
    const message =
      'The emulator does not support parts of the stack: Queue: the type AWS::SQS::Queue; ' +
      'Data (AWS::DynamoDB::GlobalTable): BillingMode: the intrinsic function Fn::If; ' +
      'Data (AWS::DynamoDB::GlobalTable): LocalSecondaryIndexes: not supported; ' +
      'Data (AWS::DynamoDB::GlobalTable): Condition: not supported.';
    expect(() => templateOf({ Queue, Data })).toThrow(message);
  });

  const stage = sampleApi.Stage;
  const response = gatewayResponse('DEFAULT_4XX', '400');
  const Deny = { Action: 'dynamodb:GetItem', Effect: 'Deny', Resource: '*' };
  const unquoted = { ResponseParameters: { 'header.Origin': 'method.request.header.Origin' } };
  const withError = { ResponseTemplates: { 'application/json': '{"message":"$context.error.message"}' } };
  const withPath = { ...mock('404'), RequestTemplates: { 'a/b': '{"statusCode":$input.path("$")}' } };
  const foreign = proxyTo('arn:aws:lambda:us-east-1:123456789012:function:Other');
  test.each<[string, SampleResource, object]>([
    ['StageName: Invalid key', stage, { StageName: undefined }],
    ['Runtime: Invalid type', lambdaFunction('asset'), { Runtime: 'nodejs22.x' }],
    ['MethodSettings.0.CachingEnabled: ', stage, { MethodSettings: [{ CachingEnabled: true }] }],
    ['PolicyDocument.Statement.0.Effect: ', policy([], []), { PolicyDocument: { Statement: [Deny] } }],
    ['ResponseParameters.header.Origin: only a value in single quotes', response, unquoted],
    ['ResponseTemplates.application/json: only the variable $context.requestId', response, withError],
    ['Integration.Uri: only a function of the same stack', method(root, 'GET', foreign), {}],
    ['Integration.RequestTemplates.a/b: only a template with a status', method(root, 'ANY', withPath), {}],
  ])('rejects a resource with the problem %s', (problem, resource, changes) => {
    const Changed = withProperties(resource, changes);
    expect(() => templateOf({ ...sampleApi, Role: role, Changed })).toThrow(
      `: Changed (${resource.Type}): ${problem}`,
    );
  });

  test('rejects types whose names resemble the names of skipped types', () => {
    for (const Type of ['aws::sns::topic', 'AWS::ApiGateway::DomainNameV2', 'AWS::EventSchemas::Schema'])
      expect(() => templateOf({ Other: { Type, Properties: {} } })).toThrow(`Other: the type ${Type}`);
  });

  test.each<[object, string]>([
    [{ 'Fn::toString': ['a'] }, 'the intrinsic function Fn::toString'],
    [{ 'Fn::GetAtt': ['Data', 'StreamArn'] }, 'the attribute StreamArn of Data (AWS::DynamoDB::GlobalTable)'],
    [{ 'Fn::Join': ['', ['a', { Ref: 'Nobody' }]] }, 'a reference to Nobody'],
    [{ 'Fn::Sub': 'a${Nobody}' }, 'a reference to Nobody'],
  ])('rejects the value %j', (value, problem) => {
    expect(() => resolved(value)).toThrow(
      `Function (AWS::Lambda::Function): Environment.Variables.VALUE: ${problem}`,
    );
  });
});
