import { describe, expect, test } from '@jest/globals';
import { typesNotRunHere } from '../../../../infra/local/template/resources.ts';
import { RunnerError } from '../../../../infra/local/runner-error.ts';
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
  type SampleResources,
  table,
  templateOf,
} from '../../../support/sample-resources.ts';

/** A value as the environment of a function sees it. */
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

function refusal(resources: SampleResources): string {
  try {
    templateOf(resources);
  } catch (error) {
    if (error instanceof RunnerError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a template', () => {
  describe('has its intrinsic functions replaced by values', () => {
    test.each([
      ['Ref of a resource: its logical id', { Ref: 'Pets' }, 'Pets'],
      ['Ref of a stage: its name', { Ref: 'Stage' }, 'sample'],
      ['Ref of the region', { Ref: 'AWS::Region' }, 'us-east-1'],
      ['Ref of the account', { Ref: 'AWS::AccountId' }, '000000000000'],
      ['Ref of the partition', { Ref: 'AWS::Partition' }, 'aws'],
      ['Ref of the suffix', { Ref: 'AWS::URLSuffix' }, 'amazonaws.com'],
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

  describe('has, of what is not run here,', () => {
    const types = [...typesNotRunHere];
    // Neither is modelled anywhere else.
    const Properties = { Colour: { 'Fn::If': ['Never', 1, 2] }, Owner: { 'Fn::GetAtt': ['Nobody', 'Arn'] } };

    test.each(types)('%s, whatever its properties', (Type) => {
      const template = templateOf({ ...sampleApi, Passed: { Type, Properties } });
      expect(template.notRunHere).toEqual([Type]);
      expect(template.resources('AWS::ApiGateway::Stage')).toHaveLength(1);
    });

    test('each type once, in alphabetical order', () => {
      const twice = [...types.toReversed(), ...types];
      const passed = Object.fromEntries(twice.map((Type, index) => [`Passed${index}`, { Type, Properties }]));
      expect(templateOf({ ...passed, ...sampleApi }).notRunHere).toEqual(types.toSorted());
    });

    test('no type where it has none', () => {
      expect(templateOf(sampleApi).notRunHere).toEqual([]);
    });

    test('nothing that a request could notice', () => {
      // Each of these prefixes is of what watches, deploys, names or protects a stage.
      const outside =
        /^AWS::(?:CloudWatch|CodeDeploy|Logs::MetricFilter|Route53|SNS|WAFv2|ApiGateway::(?:BasePathMapping|DomainName))/;
      expect(types.filter((type) => !outside.test(type))).toEqual([]);
    });
  });

  describe('is refused, naming the culprit, with', () => {
    test('a type of resource that is not modelled', () => {
      expect(refusal({ Queue: { Type: 'AWS::SQS::Queue', Properties: {} } })).toMatch(
        /\n {2}Queue: the type AWS::SQS::Queue$/,
      );
    });

    test('a property that is not modelled', () => {
      const { Type, Properties } = table('id');
      expect(refusal({ Pets: { Type, Properties: { ...Properties, StreamSpecification: {} } } })).toMatch(
        /\n {2}Pets \(AWS::DynamoDB::GlobalTable\): StreamSpecification: .+$/,
      );
    });

    test('a property that is not modelled deep within another', () => {
      const { Type, Properties } = table('id');
      const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH', Sparse: true }];
      expect(refusal({ Pets: { Type, Properties: { ...Properties, KeySchema } } })).toContain(
        'Pets (AWS::DynamoDB::GlobalTable): KeySchema.0.Sparse: ',
      );
    });

    test('a property missing that the local service needs', () => {
      expect(refusal({ Stage: { Type: 'AWS::ApiGateway::Stage', Properties: {} } })).toContain(
        'Stage (AWS::ApiGateway::Stage): StageName: ',
      );
    });

    test.each([
      ['Runtime', 'nodejs22.x'],
      ['Timeout', '10'],
    ])('a value of %s that is not modelled', (property, value) => {
      const { Type, Properties } = lambdaFunction('asset');
      expect(
        refusal({ Role: role, Function: { Type, Properties: { ...Properties, [property]: value } } }),
      ).toMatch(new RegExp(String.raw`\n {2}Function \(AWS::Lambda::Function\): ${property}: .*"${value}"`));
    });

    test('a cache, by which a stage would answer otherwise', () => {
      const settings = {
        HttpMethod: '*',
        ResourcePath: '/*',
        ThrottlingRateLimit: 100,
        CachingEnabled: true,
      };
      const Properties = { StageName: 'sample', MethodSettings: [settings] };
      expect(refusal({ Stage: { Type: 'AWS::ApiGateway::Stage', Properties } })).toMatch(
        /\n {2}Stage \(AWS::ApiGateway::Stage\): MethodSettings\.0\.CachingEnabled: .+$/,
      );
    });

    test('a statement that denies', () => {
      const statement = { Action: 'dynamodb:GetItem', Effect: 'Deny', Resource: '*' };
      const PolicyDocument = { Statement: [statement], Version: '2012-10-17' };
      expect(
        refusal({ Policy: { Type: 'AWS::IAM::Policy', Properties: { PolicyDocument, Roles: [] } } }),
      ).toContain('Policy (AWS::IAM::Policy): PolicyDocument.Statement.0.Effect: ');
    });

    test('several such things: all of them at once', () => {
      const { Type, Properties } = lambdaFunction('asset');
      const message = refusal({
        Role: { Type: 'AWS::IAM::Role', Properties: {} },
        Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
        Function: { Type, Properties: { ...Properties, Runtime: 'ruby', Layers: [] } },
        Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
        Rule: { Type: 'AWS::Events::Rule', Properties: {} },
      });
      for (const culprit of ['Queue: ', 'Runtime: ', 'Layers: ', 'Rule: '])
        expect(message).toContain(culprit);
      expect(message).not.toContain('Topic');
    });

    test.each([
      'AWS::SNS::TopicInlinePolicy',
      'AWS::CloudWatch::AlarmMuteRule',
      'aws::sns::topic',
      'AWS::WAFv2',
    ])('the type %s, which only looks like one that is not run here', (Type) => {
      expect(refusal({ Other: { Type, Properties: {} } })).toMatch(new RegExp(`Other: the type ${Type}$`));
    });

    test('an attribute of what is not run here', () => {
      expect(() =>
        resolved(
          { 'Fn::GetAtt': ['Topic', 'TopicArn'] },
          { Topic: { Type: 'AWS::SNS::Topic', Properties: {} } },
        ),
      ).toThrow('the attribute TopicArn of Topic (AWS::SNS::Topic)');
    });

    test.each([
      ['of an unknown kind', { AutoScalingRollingUpdate: {} }, 'AutoScalingRollingUpdate'],
      [
        'of an unknown kind beside a known one',
        { CodeDeployLambdaAliasUpdate: {}, UseOnlineResharding: true },
        'UseOnlineResharding',
      ],
      ['without a kind', {}, 'CodeDeployLambdaAliasUpdate'],
    ])('a policy for updates %s', (_what, UpdatePolicy, culprit) => {
      const Resources = { Live: { ...alias('Function', 'live'), UpdatePolicy } };
      expect(() => parseTemplate(JSON.stringify({ Resources }))).toThrow(
        `Resources.Live.UpdatePolicy.${culprit}: `,
      );
    });

    test.each(['Fn::If', 'Fn::ImportValue', 'Fn::toString'])(
      'the intrinsic function %s, which is not modelled',
      (name) => {
        expect(() => resolved({ [name]: ['a'] })).toThrow(
          `Function (AWS::Lambda::Function): the intrinsic function ${name}`,
        );
      },
    );

    test('an attribute that is not modelled', () => {
      expect(() => resolved({ 'Fn::GetAtt': ['Pets', 'StreamArn'] })).toThrow(
        'Function (AWS::Lambda::Function): the attribute StreamArn of Pets (AWS::DynamoDB::GlobalTable)',
      );
    });

    test('a reference to nothing', () => {
      expect(() => resolved({ Ref: 'Nobody' })).toThrow(
        'Function (AWS::Lambda::Function): a reference to Nobody',
      );
    });

    test.each([
      [
        'a header taken from the request',
        { 'gatewayresponse.header.Origin': 'method.request.header.Origin' },
      ],
      ['a header that belongs elsewhere', { 'method.response.header.Vary': "'5'" }],
      ['a header with quotes within', { 'gatewayresponse.header.Vary': "'a'b'" }],
    ])('%s', (_name, ResponseParameters) => {
      const { Type, Properties } = gatewayResponse('DEFAULT_4XX', '400');
      expect(refusal({ Refusal: { Type, Properties: { ...Properties, ResponseParameters } } })).toContain(
        'Refusal (AWS::ApiGateway::GatewayResponse): ResponseParameters',
      );
    });

    test.each(['$context.error.message', '$context.requestId.'])(
      'the variable %s in the body of a gateway response',
      (variable) => {
        const { Type, Properties } = gatewayResponse('DEFAULT_4XX', '400');
        const ResponseTemplates = { 'application/json': `{"message":"${variable}"}` };
        expect(refusal({ Refusal: { Type, Properties: { ...Properties, ResponseTemplates } } })).toContain(
          'only the variable $context.requestId is modelled',
        );
      },
    );

    test('a mock whose request chooses another status than its response has', () => {
      const integration = { ...mock('404'), RequestTemplates: { 'application/json': '{"statusCode":200}' } };
      expect(refusal({ ...sampleApi, Method: method(root, 'ANY', integration) })).toContain(
        'Method (AWS::ApiGateway::Method): Integration: only request templates',
      );
    });

    test('a resource on a condition', () => {
      const text = JSON.stringify({ Resources: { Pets: { ...table('id'), Condition: 'Sometimes' } } });
      expect(() => parseTemplate(text)).toThrow('Resources.Pets.Condition');
    });

    test('text that is not a template', () => {
      expect(() => parseTemplate('{')).toThrow('not valid JSON');
      expect(() => parseTemplate('{}')).toThrow('Resources');
    });
  });
});
