import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { permits } from '../../infra/local/emulator/template/permissions.ts';
import { stackName } from '../../shared/names.ts';
import { blockWith } from '../support/markdown-code.ts';
import { statementsOf } from './policies.ts';
import { propertiesOf, readableTemplate, resourcesOf, stageNames } from '../support/stack-template.ts';
import { stages } from '../support/stages.ts';

const document = readFileSync('docs/deploy.md', 'utf8');
const templates = [...stageNames, 'account' as const].map(readableTemplate);

/**
 * Returns a function that tells whether a policy allows `action` on `arn:aws:${arn}`, if the conditions of their Allow
 * statements are met and those of their Deny statements are not.
 */
function accessOf(policy: string): (action: string, arn: string) => boolean {
  const statements = statementsOf(policy);
  const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
  const denied = statements.filter(({ Effect, Condition }) => Effect === 'Deny' && !Condition);
  return (action, arn) =>
    permits(allowed, action, `arn:aws:${arn}`) && !permits(denied, action, `arn:aws:${arn}`);
}

const regional = (service: string, ...paths: string[]) =>
  paths.map((path) => `${service}:REGION:ACCOUNT:${path}`);

/**
 * Returns a function that returns the resources to which an action can apply, without `arn:aws:`. They belong to the stack
 * `name`, or to others if `name` is not the name of a stack.
 */
function resources(name: string, more: Record<string, string[]> = {}): (action: string) => string[] {
  const all: Record<string, string[]> = {
    cloudwatch: [...regional('cloudwatch', `alarm:${name}-1A`), `cloudwatch::ACCOUNT:dashboard/${name}`],
    cloudformation: regional('cloudformation', `stack/${name}/1a`),
    codedeploy: regional('codedeploy', `application:${name}-1A`, `deploymentgroup:${name}-1A`),
    dynamodb: regional(
      'dynamodb',
      `table/${name}-1A`,
      `table/${name}-1A/index/newest`,
      `table/${name}-1A/backup/01`,
    ),
    events: regional('events', `rule/${name}-1A`),
    iam: [`iam::ACCOUNT:role/${name}-1A`],
    lambda: regional('lambda', `function:${name}-1A`),
    logs: regional('logs', `log-group:${name}-1A`, `log-group:aws-waf-logs-${name}-1A`),
    wafv2: regional('wafv2', `regional/webacl/${name}/1a`),
    ...more,
  };
  return (action) => {
    const [service] = action.split(':') as [string];
    return all[service] ?? regional(service, `${name}-1A`);
  };
}

const ofOthers = resources('Other', {
  apigateway: ['account', 'domainnames/1a', 'restapis/1a', 'restapis/1a/stages/live/cache/authorizers'].map(
    (path) => `apigateway:REGION::/${path}`,
  ),
  iam: ['iam::ACCOUNT:role/Other', 'iam::ACCOUNT:policy/other', 'iam::ACCOUNT:user/other'],
  logs: ['log-group:Other', 'log-group:/aws/lambda/Other'].map((path) => `logs:REGION:ACCOUNT:${path}`),
  acm: ['acm:REGION:ACCOUNT:certificate/1a'],
  sts: ['iam::ACCOUNT:role/Other'],
});

// Reading configuration and metrics is allowed, but not reading items, log lines, objects and parameters.
const reading =
  /:(?:BatchDescribe|Describe|Detect|List)|:Get(?!Item|Log[ER]|Object|Parameter|Query|Records|Sampled)\w+|^(?:cloudwatch|codedeploy|sns):(?:Batch)?Get\*$|^apigateway:GET$/;

/** Changes of resources of others by policy. "Permissions boundary" and "Break-glass role" in docs/deploy.md describe them. */
const ofOthersAllowed = {
  boundary: [
    'acm:*Tags*',
    'acm:DeleteCertificate',
    'acm:RequestCertificate',
    'acm:UpdateCertificateOptions',
    'apigateway:*',
    'cloudwatch:PutMetricData',
    'codedeploy:StopDeployment',
    'logs:CreateLogDelivery',
    'logs:DeleteLogDelivery',
    'logs:DeleteQueryDefinition',
    'logs:PutQueryDefinition',
    'logs:PutResourcePolicy',
    'xray:PutTelemetryRecords',
    'xray:PutTraceSegments',
  ],
  'break-glass': [
    'apigateway:DELETE',
    'apigateway:PATCH',
    'apigateway:SetWebACL',
    'codedeploy:StopDeployment',
  ],
};

const policies = globSync('docs/policies/!(*-trust).json').map((file) => parse(file).name);

test('each policy is small enough for IAM', () => {
  const lengths = policies.map((name) => {
    const policy = JSON.stringify(JSON.parse(readFileSync(`docs/policies/${name}.json`, 'utf8')));
    return policy.replaceAll('ACCOUNT', '123456789012').replaceAll('REGION', 'ap-southeast-1').length;
  });
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
  expect(Math.max(...lengths)).toBeLessThan(6_144);
});

test('each policy allows only these changes of resources of others', () => {
  const allowed = policies.map((name) => {
    const can = accessOf(name);
    const actions: string[] = statementsOf(name).flatMap(({ Effect, Action }) =>
      Effect === 'Allow' ? Action : [],
    );
    const reaching = actions.filter((action) => ofOthers(action).some((arn) => can(action, arn)));
    return [name, reaching.filter((action) => !reading.test(action)).toSorted()] as const;
  });
  expect(Object.fromEntries(allowed.filter(([, actions]) => actions.length > 0))).toEqual(ofOthersAllowed);
});

describe('the permissions boundary', () => {
  const can = accessOf('boundary');
  const boundary = statementsOf('boundary');
  const own = resources(stackName('preview'));
  const topics = 'arn:aws:sns:REGION:ACCOUNT:PetStore-*';
  const sources = ['aws.cloudformation', 'aws.codedeploy'];

  /** Returns the conditions under which the statements with this effect apply to an action on a resource of a stack. */
  const conditionsOf = (effect: string, action: string) =>
    boundary
      .filter(({ Effect }) => Effect === effect)
      .filter((one) => own(action).some((arn) => permits([one], action, `arn:aws:${arn}`)))
      .map(({ Condition }) => Condition);

  test('allows what the templates contain', () => {
    const services = templates
      .flatMap(({ Resources }) => Object.values<any>(Resources))
      .map(({ Type }) => Type.split('::')[1].toLowerCase().replace('certificatemanager', 'acm'));
    const actions: string[] = boundary.flatMap(({ Action }) => Action);
    const allowed = new Set(actions.map((action) => action.split(':')[0]));
    const needed: string[] = templates
      .flatMap((template) => propertiesOf(template as any, 'AWS::IAM::Policy'))
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap(({ Action }: any) => Action));
    const rules = templates
      .flatMap((template) => propertiesOf(template as any, 'AWS::Events::Rule'))
      .flatMap(({ EventPattern }) => EventPattern?.source ?? ['schedules']);
    expect({
      services: Array.from(new Set(services).difference(allowed)),
      actionsOfRoles: needed.filter((action) => !own(action).some((arn) => can(action, arn))),
      sourcesOfRules: Array.from(new Set(rules).difference(new Set(sources))),
    }).toEqual({ services: [], actionsOfRoles: [], sourcesOfRules: [] });
  });

  test('allows roles only with the boundary, roles only for services of a stack, and events only for its topics', () => {
    const name = JSON.parse(blockWith('permissionsBoundary', document))['@aws-cdk/core:permissionsBoundary']
      .name;
    const hasBoundary = { 'iam:PermissionsBoundary': `arn:aws:iam::ACCOUNT:policy/${name}` };
    const logging = 'arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
    const passedTo = ['apigateway', 'codedeploy', 'lambda'].map((service) => `${service}.amazonaws.com`);
    const expected = {
      'iam:CreateRole': { StringEquals: hasBoundary },
      'iam:PutRolePermissionsBoundary': { StringEquals: hasBoundary },
      'iam:PutRolePolicy': { StringEquals: hasBoundary },
      'iam:AttachRolePolicy': { StringEquals: hasBoundary, ArnEquals: { 'iam:PolicyARN': logging } },
      'iam:PassRole': { StringEquals: { 'iam:PassedToService': passedTo } },
      'events:PutRule': {
        'ForAllValues:StringEquals': { 'events:source': sources },
        Null: { 'events:source': 'false' },
      },
      'events:PutTargets': {
        'ForAllValues:ArnLike': { 'events:TargetArn': topics },
        Null: { 'events:TargetArn': 'false' },
      },
    };
    const conditions = Object.keys(expected).map((action) => [action, conditionsOf('Allow', action)]);
    expect(Object.fromEntries(conditions)).toStrictEqual(
      Object.fromEntries(Object.entries(expected).map(([action, condition]) => [action, [condition]])),
    );
  });

  test('denies alarms with actions other than the topics of stacks', () => {
    const otherActions = { 'ForAnyValue:StringNotLike': { 'cloudwatch:AlarmActions': topics } };
    for (const action of ['cloudwatch:PutCompositeAlarm', 'cloudwatch:PutMetricAlarm'])
      expect(conditionsOf('Deny', action)).toStrictEqual([otherActions]);
  });

  test('cannot be removed or changed', () => {
    const policy = 'iam::ACCOUNT:policy/pet-store-boundary';
    const changes = ['CreatePolicyVersion', 'DeletePolicy', 'DeletePolicyVersion', 'SetDefaultPolicyVersion'];
    expect(changes.filter((change) => can(`iam:${change}`, policy))).toEqual([]);
    expect(can('iam:DeleteRolePermissionsBoundary', own('iam:DeleteRolePermissionsBoundary')[0]!)).toBe(
      false,
    );
  });

  test('denies the deletion of backups, and of data that a stage retains', () => {
    const allowed = Object.entries({ ...stages, preview: { retainData: false } }).map(
      ([stage, { retainData }]) => {
        const name = `${stackName(stage)}-Part1A2B`;
        const table = `dynamodb:REGION:ACCOUNT:table/${name}`;
        const deletions: [action: string, arn: string][] = [
          ['dynamodb:DeleteTable', table],
          ['dynamodb:UpdateContinuousBackups', table],
          ['dynamodb:UpdateTimeToLive', table], // DynamoDB deletes items whose TTL attribute is in the past.
          ['logs:DeleteLogGroup', `logs:REGION:ACCOUNT:log-group:${name}`],
          ['logs:DeleteLogGroup', `logs:REGION:ACCOUNT:log-group:aws-waf-logs-${name}`],
          ['dynamodb:DeleteBackup', `${table}/backup/01`],
        ];
        const expected = retainData ? [] : deletions.slice(0, -1);
        return { stage, deletions: deletions.filter((deletion) => can(...deletion)), expected };
      },
    );
    for (const { stage, deletions, expected } of allowed)
      expect({ stage, deletions }).toEqual({ stage, deletions: expected });
  });
});

describe('the break-glass policy', () => {
  const can = accessOf('break-glass');
  const name = `${stackName('production')}-Part1A2B`;
  const table = `dynamodb:REGION:ACCOUNT:table/${name}`;
  const stack = 'cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a';
  const lambda = `lambda:REGION:ACCOUNT:function:${name}`;
  const logRole = resourcesOf(readableTemplate('account'), 'AWS::IAM::Role')[0]![0];
  const restoring = ['BatchGetItem', 'DescribeTable', 'PutItem', 'Scan', 'UpdateItem'].map(
    (call) => `dynamodb:${call}`,
  );

  test('allows operators to restore tables and to repair the account, but not to deploy or to delete data', () => {
    const allowed = [
      ...restoring.flatMap((action) => [`${action} ${table}`, `${action} ${table}-restored`]),
      `dynamodb:UpdateTimeToLive ${table}-restored`,
      `dynamodb:DeleteTable ${table}-restored`,
      `cloudformation:DetectStackDrift ${stack}`,
      'apigateway:PATCH apigateway:REGION::/account',
      `iam:PassRole iam::ACCOUNT:role/${stackName('account')}-${logRole}-1A2B3C`,
    ];
    const forbidden = [
      `dynamodb:UpdateTimeToLive ${table}`,
      `dynamodb:UpdateContinuousBackups ${table}`,
      `dynamodb:DeleteTable ${table}`,
      `dynamodb:DeleteItem ${table}`,
      `cloudformation:UpdateStack ${stack}`,
      `iam:PassRole iam::ACCOUNT:role/${name}`,
      'apigateway:PATCH apigateway:REGION::/restapis/1a2b',
      `lambda:AddPermission ${lambda}`,
      `lambda:UpdateFunctionCode ${lambda}`,
    ];
    const permitted = [...allowed, ...forbidden].filter((access) =>
      can(...(access.split(' ') as [string, string])),
    );
    expect(permitted).toEqual(allowed);
  });

  test('lets operators pass roles only to API Gateway', () => {
    const statement = statementsOf('break-glass').find(({ Action }) => Action.includes('iam:PassRole'));
    expect(statement.Condition).toEqual({
      StringEquals: { 'iam:PassedToService': 'apigateway.amazonaws.com' },
    });
  });

  test('applies only to operators with MFA', () => {
    expect(statementsOf('break-glass-role-trust').map(({ Condition }) => Condition)).toEqual([
      { Bool: { 'aws:MultiFactorAuthPresent': 'true' } },
    ]);
  });
});

test('the pipeline assumes only the bootstrap roles that deploy, not the role that reads the account', () => {
  const roles = ['deploy-role', 'file-publishing-role'].map(
    (role) => `arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-${role}-ACCOUNT-REGION`,
  );
  expect(statementsOf('deploy-role-bootstrap').map(({ Resource }) => Resource)).toEqual([roles]);
});

test('only jobs in the environment of the stage can assume a role', () => {
  const [{ Condition }] = statementsOf('deploy-role-trust') as [any];
  const token = 'token.actions.githubusercontent.com';
  expect(Condition).toEqual({
    StringEquals: {
      [`${token}:aud`]: 'sts.amazonaws.com',
      [`${token}:sub`]: 'repo:OWNER/REPO:environment:staging',
    },
  });
});

test('the role that reads production reads no items and no log lines, and changes nothing', () => {
  const actions: string[] = statementsOf('read').flatMap(({ Action }) => Action);
  expect(actions.filter((action) => !reading.test(action))).toEqual([]);
});

test('the role of the sandbox can issue and revoke keys of stages of pull requests', () => {
  const can = accessOf('sandbox');
  const missing = statementsOf('keys').flatMap(({ Action, Resource: [arn] }) => {
    const ofPullRequest = arn.replace('arn:aws:', '').replace('PetStore-staging', stackName('pr123'));
    return Action.filter((action: string) => !can(action, ofPullRequest));
  });
  expect(missing).toEqual([]);
});
