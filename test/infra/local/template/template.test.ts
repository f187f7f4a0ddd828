import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../../../infra/operate/command.ts';
import { parseTemplate } from '../../../../infra/local/template/template.ts';
import {
  alias,
  gatewayResponse,
  lambdaFunction,
  method,
  mock,
  role,
  root,
  sampleApi,
  type SampleResource,
  type SampleResources,
  table,
  templateOf,
} from '../../../support/sample-resources.ts';

/** The value of a variable in the environment of a function. */
function resolved(value: unknown, resources: SampleResources = {}): unknown {
  const template = templateOf({
    ...sampleApi,
    Pets: table('id'),
    Role: role,
    Logs: { Type: 'AWS::Logs::LogGroup', Properties: {} },
    OtherVersion: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'Other' } } },
    OtherLive: alias('Other', 'live'),
    ...resources,
    Function: lambdaFunction('asset', 10, { VALUE: value }),
    Other: lambdaFunction('other'),
  });
  return template.resources('AWS::Lambda::Function')[0]?.properties.Environment.Variables['VALUE'];
}

/** The message of the error that rejects a template with these resources. */
function rejection(resources: SampleResources): string {
  try {
    templateOf(resources);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'accepted';
}

/** A sample resource with other properties. */
function withProperties({ Type, Properties }: SampleResource, changes: object): SampleResource {
  return { Type, Properties: { ...Properties, ...changes } };
}

describe('a template', () => {
  describe('has its intrinsic functions replaced by values', () => {
    test.each([
      ['Ref of a resource: its logical id', { Ref: 'Pets' }, 'Pets'],
      ['Ref of a stage: its name', { Ref: 'Stage' }, 'sample'],
      ['Ref of a pseudo parameter', { Ref: 'AWS::AccountId' }, '000000000000'],
      ['GetAtt of a root resource', root, 'Api'],
      [
        'GetAtt of a table',
        { 'Fn::GetAtt': ['Pets', 'Arn'] },
        'arn:aws:dynamodb:us-east-1:000000000000:table/Pets',
      ],
      ['GetAtt of a role', { 'Fn::GetAtt': ['Role', 'Arn'] }, 'arn:aws:iam::000000000000:role/Role'],
      [
        'GetAtt of a function',
        { 'Fn::GetAtt': ['Function', 'Arn'] },
        'arn:aws:lambda:us-east-1:000000000000:function:Function',
      ],
      [
        'GetAtt of a log group',
        { 'Fn::GetAtt': ['Logs', 'Arn'] },
        'arn:aws:logs:us-east-1:000000000000:log-group:Logs:*',
      ],
      [
        'Ref of an alias: its ARN',
        { Ref: 'OtherLive' },
        'arn:aws:lambda:us-east-1:000000000000:function:Other:live',
      ],
      ['Ref of a version: its logical id', { Ref: 'OtherVersion' }, 'OtherVersion'],
      ['GetAtt of the number of a version', { 'Fn::GetAtt': ['OtherVersion', 'Version'] }, '1'],
      [
        'Sub with an alias',
        { 'Fn::Sub': '<${OtherLive}>' },
        '<arn:aws:lambda:us-east-1:000000000000:function:Other:live>',
      ],
      ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'Pets' }, 'b']] }, 'a/Pets/b'],
      ['Split and Select', { 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
      [
        'Sub',
        { 'Fn::Sub': '${Pets} in ${AWS::Region} of ${Stage}, ${Pets}' },
        'Pets in us-east-1 of sample, Pets',
      ],
    ])('%s', (_name, value, expected) => {
      expect(resolved(value)).toBe(expected);
    });

    test('in its outputs too', () => {
      const template = parseTemplate(
        JSON.stringify({ Resources: sampleApi, Outputs: { Address: { Value: { Ref: 'Api' } } } }),
      );
      expect(template.output('Address')).toBe('Api');
      expect(() => template.output('Else')).toThrow('no output Else');
    });
  });

  test('gives its resources by type, with their logical ids', () => {
    const template = templateOf({ Pets: table('id'), Keys: table('hash'), ...sampleApi });
    expect(template.resources('AWS::DynamoDB::GlobalTable').map(({ logicalId }) => logicalId)).toEqual([
      'Pets',
      'Keys',
    ]);
    expect(template.resources('AWS::Lambda::Function')).toEqual([]);
  });

  test('may have an alias that CodeDeploy shifts', () => {
    const UpdatePolicy = { CodeDeployLambdaAliasUpdate: { ApplicationName: { Ref: 'Nobody' } } };
    const Resources = {
      Function: lambdaFunction('asset'),
      Role: role,
      Live: { ...alias('Function', 'live'), UpdatePolicy },
    };
    expect(parseTemplate(JSON.stringify({ Resources })).resources('AWS::Lambda::Alias')).toMatchObject([
      { logicalId: 'Live', properties: { FunctionName: 'Function', Name: 'live' } },
    ]);
  });

  describe('may have', () => {
    test.each([
      'AWS::ApiGateway::DomainName',
      'AWS::Backup::BackupPlan',
      'AWS::CloudWatch::Alarm',
      'AWS::CloudWatch::AnomalyDetector',
      'AWS::Events::Rule',
      'AWS::Logs::LogGroup',
      'AWS::SNS::Topic',
    ])('resources of the type %s, which are not run', (Type) => {
      const Properties = {
        Colour: { 'Fn::If': ['Never', 1, 2] },
        Owner: { 'Fn::GetAtt': ['Nobody', 'Arn'] },
      };
      const template = templateOf({ ...sampleApi, One: { Type, Properties }, Other: { Type, Properties } });
      expect(template.notRunHere).toEqual([Type]);
    });

    test.each([
      ['a function', 'ReservedConcurrentExecutions', lambdaFunction('asset'), 5],
      ['a function', 'EphemeralStorage', lambdaFunction('asset'), { Size: 1024 }],
      ['a function', 'KmsKeyArn', lambdaFunction('asset'), { 'Fn::GetAtt': ['Key', 'Arn'] }],
      ['a function', 'Tags', lambdaFunction('asset'), [{ Key: 'team', Value: 'pets' }]],
      ['a stage', 'CacheClusterEnabled', sampleApi['Stage']!, true],
      ['a stage', 'Description', sampleApi['Stage']!, 'a stage'],
      ['a table', 'SSESpecification', table('id'), { SSEEnabled: true }],
      ['a table', 'StreamSpecification', table('id'), { StreamViewType: 'NEW_IMAGE' }],
    ])('%s with %s, which has no meaning here', (_what, property, resource, value) => {
      const changed = withProperties(resource, { [property]: value });
      expect(rejection({ ...sampleApi, Role: role, Changed: changed })).toBe('accepted');
    });
  });

  describe('is rejected by a message that names', () => {
    test('the type, the property and the file to add them to', () => {
      const message = rejection({
        Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
        Pets: withProperties(table('id'), { LocalSecondaryIndexes: [] }),
      });
      expect(message).toContain(
        'model it in infra/local/template/resources.ts or list it there as passed over',
      );
      expect(message.split('\n').slice(1)).toEqual([
        '  Queue: the type AWS::SQS::Queue',
        '  Pets (AWS::DynamoDB::GlobalTable): LocalSecondaryIndexes: not modelled',
      ]);
    });

    const keys = [{ AttributeName: 'id', KeyType: 'HASH', Sparse: true }];
    const caching = [{ HttpMethod: '*', ResourcePath: '/*', CachingEnabled: true }];
    const Deny = { Action: 'dynamodb:GetItem', Effect: 'Deny', Resource: '*' };
    const PolicyDocument = { Statement: [Deny], Version: '2012-10-17' };
    test.each<[string, string, SampleResource, object]>([
      ['a nested property', 'KeySchema.0.Sparse', table('id'), { KeySchema: keys }],
      ['a missing property', 'StageName', sampleApi['Stage']!, { StageName: undefined }],
      ['another runtime', 'Runtime', lambdaFunction('asset'), { Runtime: 'nodejs22.x' }],
      ['a value of another type', 'Timeout', lambdaFunction('asset'), { Timeout: '10' }],
      ['a layer, which changes the code', 'Layers', lambdaFunction('asset'), { Layers: [] }],
      ['a variable of the stage', 'Variables', sampleApi['Stage']!, { Variables: {} }],
      [
        'a cache of responses',
        'MethodSettings.0.CachingEnabled',
        sampleApi['Stage']!,
        { MethodSettings: caching },
      ],
      [
        'a statement that denies',
        'PolicyDocument.Statement.0.Effect',
        { Type: 'AWS::IAM::Policy', Properties: { Roles: [] } },
        { PolicyDocument },
      ],
      [
        'a header that is taken from the request',
        'ResponseParameters',
        gatewayResponse('DEFAULT_4XX', '400'),
        { ResponseParameters: { 'gatewayresponse.header.Origin': 'method.request.header.Origin' } },
      ],
      [
        'a header of another kind of response',
        'ResponseParameters',
        gatewayResponse('DEFAULT_4XX', '400'),
        { ResponseParameters: { 'method.response.header.Vary': "'5'" } },
      ],
      [
        'a variable in a gateway response',
        'ResponseTemplates',
        gatewayResponse('DEFAULT_4XX', '400'),
        { ResponseTemplates: { 'application/json': '{"message":"$context.error.message"}' } },
      ],
      [
        'a mock whose request template selects another status',
        'Integration: only request templates',
        method(root, 'ANY'),
        { Integration: { ...mock('404'), RequestTemplates: { 'a/b': '{"statusCode":200}' } } },
      ],
    ])('%s', (_what, culprit, resource, changes) => {
      const message = rejection({ ...sampleApi, Role: role, Changed: withProperties(resource, changes) });
      expect(message).toContain(`\n  Changed (${resource.Type}): ${culprit}`);
    });

    test.each([
      'aws::sns::topic',
      'AWS::WAFv2',
      'AWS::ApiGateway::DomainNameV2',
      'AWS::EventSchemas::Schema',
    ])('the type %s, which only resembles one that is not run', (Type) => {
      expect(rejection({ Other: { Type, Properties: {} } })).toMatch(`Other: the type ${Type}`);
    });

    const topic = { Topic: { Type: 'AWS::SNS::Topic', Properties: {} } };
    test.each<[string, object, string, SampleResources?]>([
      ['an intrinsic function', { 'Fn::If': ['a'] }, 'the intrinsic function Fn::If'],
      ['a name of every object', { 'Fn::toString': ['a'] }, 'the intrinsic function Fn::toString'],
      [
        'an attribute',
        { 'Fn::GetAtt': ['Pets', 'StreamArn'] },
        'the attribute StreamArn of Pets (AWS::DynamoDB::GlobalTable)',
      ],
      [
        'an attribute of a resource that is not run',
        { 'Fn::GetAtt': ['Topic', 'TopicArn'] },
        'the attribute TopicArn of Topic (AWS::SNS::Topic)',
        topic,
      ],
      ['a reference to nothing', { Ref: 'Nobody' }, 'a reference to Nobody'],
    ])('%s', (_what, value, culprit, resources = {}) => {
      expect(() => resolved(value, resources)).toThrow(`Function (AWS::Lambda::Function): ${culprit}`);
    });

    test.each([
      ['a condition', { Condition: 'Sometimes' }, 'Condition'],
      [
        'an unknown policy for updates',
        { UpdatePolicy: { CodeDeployLambdaAliasUpdate: {}, UseOnlineResharding: true } },
        'UpdatePolicy.UseOnlineResharding',
      ],
    ])('%s', (_what, members, culprit) => {
      const text = JSON.stringify({ Resources: { Pets: { ...table('id'), ...members } } });
      expect(() => parseTemplate(text)).toThrow(`Resources.Pets.${culprit}: `);
    });

    test('text that is not a template', () => {
      expect(() => parseTemplate('{}')).toThrow('Resources');
    });
  });
});
