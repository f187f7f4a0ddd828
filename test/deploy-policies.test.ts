import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { permits } from '../infra/local/emulator/template/permissions.ts';
import { stackName } from '../shared/names.ts';
import { blockWith } from './support/markdown-code.ts';
import { statementsOf } from './support/policies.ts';
import { propertiesOf, readableTemplate, resourcesOf, stageNames } from './support/stack-template.ts';
import { stages } from './support/stages.ts';

const document = readFileSync('docs/pipelines.md', 'utf8');
const templates = [...stageNames, 'account' as const].map(readableTemplate);

/**
 * Returns a function that tells whether the policies allow `action` on `arn:aws:${arn}`, if the conditions of their Allow
 * statements are met and those of their Deny statements are not.
 */
function accessOf(...policies: string[]): (action: string, arn: string) => boolean {
  const statements = statementsOf(...policies);
  const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
  const denied = statements.filter(({ Effect, Condition }) => Effect === 'Deny' && !Condition);
  return (action, arn) =>
    permits(allowed, action, `arn:aws:${arn}`) && !permits(denied, action, `arn:aws:${arn}`);
}

/** Resources of a stack, or of others if `name` is not the name of a stack, without `arn:aws:`. */
const resources = (name: string): Record<string, string[]> => ({
  cloudwatch: [`cloudwatch:REGION:ACCOUNT:alarm:${name}-1A`, `cloudwatch::ACCOUNT:dashboard/${name}`],
  cloudformation: [`cloudformation:REGION:ACCOUNT:stack/${name}/1a`],
  codedeploy: ['application', 'deploymentgroup'].map(
    (type) => `codedeploy:REGION:ACCOUNT:${type}:${name}-1A`,
  ),
  dynamodb: ['', '/index/newest', '/backup/01'].map(
    (part) => `dynamodb:REGION:ACCOUNT:table/${name}-1A${part}`,
  ),
  events: [`events:REGION:ACCOUNT:rule/${name}-1A`],
  iam: [`iam::ACCOUNT:role/${name}-1A`],
  lambda: [`lambda:REGION:ACCOUNT:function:${name}-1A`],
  logs: ['', 'aws-waf-logs-'].map((start) => `logs:REGION:ACCOUNT:log-group:${start}${name}-1A`),
  sns: [`sns:REGION:ACCOUNT:${name}-1A`],
  wafv2: [`wafv2:REGION:ACCOUNT:regional/webacl/${name}/1a`],
});

const ofOthers: Record<string, string[]> = {
  ...resources('Other'),
  acm: ['acm:REGION:ACCOUNT:certificate/1a'],
  apigateway: ['account', 'domainnames/1a', 'restapis/1a', 'restapis/1a/stages/live/cache/authorizers'].map(
    (path) => `apigateway:REGION::/${path}`,
  ),
  'application-autoscaling': ['application-autoscaling:REGION:ACCOUNT:scalable-target/1a'],
  iam: ['iam::ACCOUNT:role/Other', 'iam::ACCOUNT:policy/other', 'iam::ACCOUNT:user/other'],
  route53: ['route53:::hostedzone/Z0OTHER'],
  s3: ['s3:::other/1a'],
  ssm: ['ssm:REGION:ACCOUNT:parameter/other'],
  sts: ['iam::ACCOUNT:role/Other'],
  xray: ['xray:REGION:ACCOUNT:group/1a'],
};

// Reading configuration is allowed. It reveals neither items nor log lines.
const reading =
  /:(?:BatchDescribe|BatchGet(?!Item)|Describe|Detect|Get(?!Item|LogEvents|LogRecord|Query|Records|Sampled)|List)|^apigateway:GET$/;

describe.each(globSync('docs/policies/!(*-trust).json'))('%s', (file) => {
  const { name } = parse(file);

  test('is small enough for IAM', () => {
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    const policy = JSON.stringify(JSON.parse(readFileSync(file, 'utf8')));
    const filledIn = policy.replaceAll('ACCOUNT', '123456789012').replaceAll('REGION', 'ap-southeast-1');
    expect(filledIn.length).toBeLessThan(6_144);
  });

  test('allows on resources of others only what docs/pipelines.md says', () => {
    const can = accessOf(name);
    const actions: string[] = statementsOf(name).flatMap(({ Effect, Action }) =>
      Effect === 'Allow' ? Action : [],
    );
    const reaching = actions.filter((action) =>
      ofOthers[action.split(':')[0]!]!.some((arn) => can(action, arn)),
    );
    const rows = document.match(/^\| \[`.*/gm)!.filter((row) => row.includes(`(policies/${name}.json)`));
    const documented = rows.flatMap((row) =>
      Array.from(row.matchAll(/`([\w-]+:[\w*]+)`/g), ([, action]) => action!),
    );
    expect(reaching.filter((action) => !reading.test(action)).toSorted()).toEqual(documented.toSorted());
  });
});

describe('the permissions boundary', () => {
  const can = accessOf('boundary');
  const boundary = statementsOf('boundary');
  const own = resources(stackName('preview'));

  test('has the name in the documented context', () => {
    const context = JSON.parse(blockWith('permissionsBoundary', document));
    const { name } = context['@aws-cdk/core:permissionsBoundary'];
    const conditions = boundary.flatMap(
      ({ Condition }) => Condition?.StringEquals?.['iam:PermissionsBoundary'] ?? [],
    );
    expect(new Set(conditions)).toEqual(new Set([`arn:aws:iam::ACCOUNT:policy/${name}`]));
  });

  test('allows actions of every service in the templates', () => {
    const types = templates.flatMap(({ Resources }) => Object.values<any>(Resources).map(({ Type }) => Type));
    const services = types.map((type) =>
      type.split('::')[1].toLowerCase().replace('certificatemanager', 'acm'),
    );
    const allowed = boundary.flatMap(({ Action }) => Action.map((action: string) => action.split(':')[0]));
    const missing = new Set(services).difference(new Set(allowed));
    expect(Array.from(missing, (service) => `Allow ${service}:* in docs/policies/boundary.json.`)).toEqual(
      [],
    );
  });

  test('allows what the roles in the templates need', () => {
    const policies = templates.flatMap((template) => propertiesOf(template as any, 'AWS::IAM::Policy'));
    const needed: string[] = policies.flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.flatMap(({ Action }: any) => Action),
    );
    const missing = needed.filter((action) => !own[action.split(':')[0]!]!.some((arn) => can(action, arn)));
    expect(missing.map((action) => `Allow ${action} in docs/policies/boundary.json.`)).toEqual([]);
  });

  test.each([
    'codedeploy:UpdateDeploymentGroup',
    'dynamodb:UpdateTable',
    'events:PutRule',
    'iam:PassRole',
    'lambda:UpdateAlias',
    'logs:PutRetentionPolicy',
    'sns:SetTopicAttributes',
    'wafv2:UpdateWebACL',
  ])('allows %s for a stack', (action) => {
    expect(own[action.split(':')[0]!]!.some((arn) => can(action, arn))).toBe(true);
  });

  test('must be the boundary of new and changed roles, and cannot be removed or changed', () => {
    const grants = boundary.filter(({ Action }) => /iam:(?:Create|Put|Attach)Role/.test(Action.join()));
    expect(grants).toHaveLength(2);
    for (const { Condition } of grants)
      expect(Condition.StringEquals).toHaveProperty(['iam:PermissionsBoundary']);
    const policy = 'iam::ACCOUNT:policy/pet-store-boundary';
    const changes = ['CreatePolicyVersion', 'DeletePolicy', 'DeletePolicyVersion', 'SetDefaultPolicyVersion'];
    expect(changes.filter((change) => can(`iam:${change}`, policy))).toEqual([]);
    expect(can('iam:DeleteRolePermissionsBoundary', own['iam']![0]!)).toBe(false);
  });

  test.each(Object.entries({ ...stages, preview: { retainData: false } }))(
    'in the stage %s, denies the deletion of data that the stage retains',
    (stage, { retainData }) => {
      const name = `${stackName(stage)}-Part1A2B`;
      const table = `dynamodb:REGION:ACCOUNT:table/${name}`;
      const deletions: [action: string, arn: string][] = [
        ['dynamodb:DeleteTable', table],
        ['dynamodb:UpdateContinuousBackups', table],
        ['dynamodb:UpdateTimeToLive', table], // DynamoDB deletes items whose TTL attribute is in the past.
        ['logs:DeleteLogGroup', `logs:REGION:ACCOUNT:log-group:${name}`],
      ];
      expect(deletions.filter((deletion) => can(...deletion))).toEqual(retainData ? [] : deletions);
    },
  );

  test('denies the deletion of backups', () => {
    expect(own['dynamodb']!.filter((arn) => can('dynamodb:DeleteBackup', arn))).toEqual([]);
  });

  /** Returns the values of a condition in the only statement that contains it. */
  function conditionFor(key: string): { effect: string; operator: string; values: string[] } {
    const found = boundary.flatMap(({ Effect, Condition = {} }) =>
      Object.entries<any>(Condition)
        .filter(([operator, keys]) => operator !== 'Null' && key in keys)
        .map(([operator, keys]) => ({ effect: Effect, operator, values: [keys[key]].flat() })),
    );
    expect(found).toHaveLength(1);
    return found[0]!;
  }

  test('lets rules match only events of the sources in the templates, and only topics of stacks be targets', () => {
    const rules = templates.flatMap((template) => propertiesOf(template as any, 'AWS::Events::Rule'));
    const sources = new Set<string>(rules.flatMap(({ EventPattern }) => EventPattern.source));
    expect(conditionFor('events:source')).toEqual({
      effect: 'Allow',
      operator: 'ForAllValues:StringEquals',
      values: [...sources].toSorted(),
    });
    const topics = ['arn:aws:sns:REGION:ACCOUNT:PetStore-*'];
    expect(conditionFor('events:TargetArn').values).toEqual(topics);
    expect(conditionFor('cloudwatch:AlarmActions')).toEqual({
      effect: 'Deny',
      operator: 'ForAnyValue:StringNotLike',
      values: topics,
    });
  });
});

describe('the break-glass policy', () => {
  const can = accessOf('break-glass');
  const name = `${stackName('production')}-Part1A2B`;
  const table = `dynamodb:REGION:ACCOUNT:table/${name}`;
  const logRole = resourcesOf(readableTemplate('account'), 'AWS::IAM::Role')[0]![0];

  test.each([
    ['cloudformation:DetectStackDrift', 'cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a'],
    ['apigateway:PATCH', 'apigateway:REGION::/account'],
    ['iam:PassRole', `iam::ACCOUNT:role/${stackName('account')}-${logRole}-1A2B3C`],
    ['dynamodb:UpdateTimeToLive', `${table}-restored`],
    ['dynamodb:DeleteTable', `${table}-restored`],
  ])('allows %s on %s', (action, arn) => {
    expect(can(action, arn)).toBe(true);
  });

  test.each([
    ['dynamodb:UpdateTimeToLive', table],
    ['dynamodb:UpdateContinuousBackups', table],
    ['dynamodb:DeleteTable', table],
    ['iam:PassRole', `iam::ACCOUNT:role/${name}`],
    ['apigateway:PATCH', 'apigateway:REGION::/restapis/1a2b'],
    ['lambda:AddPermission', `lambda:REGION:ACCOUNT:function:${name}`],
    ['lambda:UpdateFunctionCode', `lambda:REGION:ACCOUNT:function:${name}`],
  ])('does not allow %s on %s', (action, arn) => {
    expect(can(action, arn)).toBe(false);
  });

  test('lets operators pass roles only to API Gateway', () => {
    const statement = statementsOf('break-glass').find(({ Action }) => Action.includes('iam:PassRole'));
    expect(statement.Condition).toEqual({
      StringEquals: { 'iam:PassedToService': 'apigateway.amazonaws.com' },
    });
  });

  test('allows the calls of the scripts in docs/runbook, also on restored tables', () => {
    const calls = ['BatchGetItem', 'DescribeTable', 'PutItem', 'Scan', 'UpdateItem'];
    for (const arn of [table, `${table}-restored`])
      expect(calls.filter((call) => !can(`dynamodb:${call}`, arn))).toEqual([]);
  });
});

test('the role that reads production reads no items and no log lines, and changes nothing', () => {
  const actions: string[] = statementsOf('read').flatMap(({ Action }) => Action);
  expect(actions.filter((action) => !reading.test(action))).toEqual([]);
});

test('the role of the sandbox can issue and revoke keys of stages of pull requests', () => {
  const { Statement } = JSON.parse(
    blockWith('IssueRotateAndRevokeKeys', readFileSync('docs/api-keys.md', 'utf8')),
  );
  const can = accessOf('sandbox');
  const missing = Statement.flatMap(({ Action, Resource }: any) =>
    [Action].flat().filter((action) => {
      const arn = Resource.replace('arn:aws:', '').replace('PetStore-staging', stackName('pr123'));
      return !can(action, arn.replace(/[\w-]+:\d{12}/, 'REGION:ACCOUNT'));
    }),
  );
  expect(missing).toEqual([]);
});
