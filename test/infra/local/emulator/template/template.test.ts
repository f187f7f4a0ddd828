import { describe, expect, test } from '@jest/globals';
import { matchesArn } from '../../../../../infra/local/emulator/template/permissions.ts';
import { parseTemplate } from '../../../../../infra/local/emulator/template/template.ts';
import { EmulatorError } from '../../../../../infra/local/emulator/errors.ts';
import {
  alias,
  gatewayResponse,
  lambdaFunction,
  method,
  mock,
  policy,
  role,
  root,
  sampleApi,
  type SampleResource,
  type SampleResources,
  table,
  templateOf,
  withProperties,
} from '../sample-resources.ts';

function resolved(value: unknown): unknown {
  const template = templateOf({
    ...sampleApi,
    Pets: table('id'),
    Role: role,
    Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
    OtherLive: alias('Other', 'live'),
    Function: lambdaFunction('asset', { VALUE: value }),
    Other: lambdaFunction('other'),
  });
  return template.resources('AWS::Lambda::Function')[0]?.properties.Environment.Variables['VALUE'];
}

/** Returns the error message for a template that contains `resources`, or `accepted` if there is no error. */
function rejection(resources: SampleResources): string {
  try {
    templateOf(resources);
  } catch (error) {
    if (error instanceof EmulatorError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('parseTemplate', () => {
  const aliasArn = 'arn:aws:lambda:us-east-1:000000000000:function:Other:live';
  const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Pets';
  test.each([
    ['Ref for a resource', { Ref: 'Pets' }, 'Pets'],
    ['Ref for a stage', { Ref: 'Stage' }, 'sample'],
    ['Ref for an alias', { Ref: 'OtherLive' }, aliasArn],
    ['Join without a value', { 'Fn::Join': ['/', ['a', { Ref: 'AWS::NoValue' }]] }, 'a'],
    ['Ref for a pseudo parameter', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['GetAtt for a root resource', root, 'Api'],
    ['GetAtt for an ARN', { 'Fn::GetAtt': ['Pets', 'Arn'] }, tableArn],
    ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'Pets' }, 'b']] }, 'a/Pets/b'],
    ['Split and Select', { 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    ['Sub', { 'Fn::Sub': '${Pets} in ${AWS::Region}, ${OtherLive}' }, `Pets in us-east-1, ${aliasArn}`],
  ])('resolves %s', (_name, value, expected) => {
    expect(resolved(value)).toBe(expected);
  });

  test('resolves intrinsic functions in outputs', () => {
    const Outputs = { Address: { Value: { Ref: 'Api' } } };
    const template = parseTemplate(JSON.stringify({ Resources: sampleApi, Outputs }));
    expect(template.output('Address')).toBe('Api');
    expect(() => template.output('Else')).toThrow('no output Else');
  });

  const unresolvable = { 'Fn::If': ['Never', 1, { 'Fn::GetAtt': ['Nobody', 'Arn'] }] };
  test('accepts unresolvable references in resources that are not run locally', () => {
    const types = ['AWS::ApiGateway::DomainName', 'AWS::Backup::BackupPlan', 'AWS::Logs::LogGroup'];
    const resources = [...types, ...types].map((Type, index) => [
      `Resource${index}`,
      { Type, Properties: { Owner: unresolvable } },
    ]);
    expect(templateOf({ ...sampleApi, ...Object.fromEntries(resources) }).skippedTypes).toEqual(types);
  });

  test('accepts unresolvable references in properties that have no effect locally', () => {
    const Function = withProperties(lambdaFunction('asset'), { KmsKeyArn: unresolvable, Tags: unresolvable });
    const Stage = withProperties(sampleApi.Stage, { CacheClusterEnabled: true, Description: 'a stage' });
    const Pets = withProperties(table('id'), { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } });
    expect(rejection({ ...sampleApi, Role: role, Function, Stage, Pets })).toBe('accepted');
  });

  test('lists all unsupported types and properties', () => {
    const message = rejection({
      Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
      Pets: withProperties(table('id'), { LocalSecondaryIndexes: [] }),
    });
    expect(message).toBe(
      'The emulator does not support parts of the stack: Queue: the type AWS::SQS::Queue; ' +
        'Pets (AWS::DynamoDB::GlobalTable): LocalSecondaryIndexes: not supported.',
    );
  });

  const caching = [{ HttpMethod: '*', ResourcePath: '/*', CachingEnabled: true }];
  const Deny = { Action: 'dynamodb:GetItem', Effect: 'Deny', Resource: '*' };
  const stage = sampleApi.Stage;
  const response = gatewayResponse('DEFAULT_4XX', '400');
  test.each<[string, string, SampleResource, object]>([
    ['a missing property', 'StageName', stage, { StageName: undefined }],
    ['an unsupported runtime', 'Runtime', lambdaFunction('asset'), { Runtime: 'nodejs22.x' }],
    ['a response cache', 'MethodSettings.0.CachingEnabled', stage, { MethodSettings: caching }],
    [
      'a Deny statement',
      'PolicyDocument.Statement.0.Effect',
      policy([], []),
      { PolicyDocument: { Statement: [Deny], Version: '2012-10-17' } },
    ],
    [
      'a header from the request',
      'ResponseParameters',
      response,
      { ResponseParameters: { 'gatewayresponse.header.Origin': 'method.request.header.Origin' } },
    ],
    [
      'an unsupported variable in a gateway response',
      'ResponseTemplates',
      response,
      { ResponseTemplates: { 'application/json': '{"message":"$context.error.message"}' } },
    ],
    [
      'a mock whose request template selects a different status',
      'Integration: only request templates',
      method(root, 'ANY'),
      { Integration: { ...mock('404'), RequestTemplates: { 'a/b': '{"statusCode":200}' } } },
    ],
  ])('rejects %s', (_case, problem, resource, changes) => {
    const message = rejection({ ...sampleApi, Role: role, Changed: withProperties(resource, changes) });
    expect(message).toContain(`: Changed (${resource.Type}): ${problem}`);
  });

  test.each(['aws::sns::topic', 'AWS::WAFv2', 'AWS::ApiGateway::DomainNameV2', 'AWS::EventSchemas::Schema'])(
    'rejects the unknown type %s',
    (Type) => {
      expect(rejection({ Other: { Type, Properties: {} } })).toMatch(`Other: the type ${Type}`);
    },
  );

  test.each<[object, string]>([
    [{ 'Fn::If': ['a'] }, 'the intrinsic function Fn::If'],
    [{ 'Fn::toString': ['a'] }, 'the intrinsic function Fn::toString'],
    [{ 'Fn::GetAtt': ['Pets', 'StreamArn'] }, 'the attribute StreamArn of Pets (AWS::DynamoDB::GlobalTable)'],
    [{ 'Fn::GetAtt': ['Topic', 'TopicArn'] }, 'the attribute TopicArn of Topic (AWS::SNS::Topic)'],
    [{ Ref: 'Nobody' }, 'a reference to Nobody'],
  ])('rejects the value %j', (value, problem) => {
    expect(() => resolved(value)).toThrow(`Function (AWS::Lambda::Function): ${problem}`);
  });

  test('rejects a resource with a condition', () => {
    const Pets = { ...table('id'), Condition: 'Sometimes' };
    expect(rejection({ Pets })).toContain(': Pets: the attribute Condition.');
  });
});

describe('matchesArn', () => {
  test.each([
    ['arn:a:b', 'arn:a:b', true],
    ['arn:a:b', 'arn:a:bc', false],
    ['arn:a:b', 'xarn:a:b', false],
    ['arn:a/*/GET/*', 'arn:a/stage/GET/v1/pets', true],
    ['arn:a/*/GET/*', 'arn:a/stage/POST/v1/pets', false],
    ['arn:a.c', 'arn:abc', false],
    ['*', 'arn:line\nbreak', true],
  ])('compares the pattern %s with the ARN %j and returns %s', (pattern, arn, expected) => {
    expect(matchesArn(pattern, arn)).toBe(expected);
  });
});
