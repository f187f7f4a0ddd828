import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { permits } from '../infra/local/emulator/template/permissions.ts';
import { stackName } from '../shared/names.ts';
import { blockWith } from './support/markdown-code.ts';
import { statementsOf } from './support/policies.ts';
import { readableTemplate, resourcesOf, stageNames } from './support/stack-template.ts';
import { stages } from './support/stages.ts';

const document = readFileSync('docs/pipelines.md', 'utf8');
const policyIn = (file: string): any => JSON.parse(readFileSync(file, 'utf8'));

const execution = statementsOf('deploy', 'deploy-domain', 'keep-data');
const allowed = execution.filter(({ Effect }) => Effect === 'Allow');
const deniedUnderConditions = execution.filter(({ Effect, Condition }) => Effect === 'Deny' && Condition);
const denied = execution.filter(({ Effect, Condition }) => Effect === 'Deny' && !Condition);
const boundary: string[] = statementsOf('boundary').flatMap(({ Action }) => Action);
const templates = [...stageNames, 'account' as const].map(readableTemplate);

/** Returns whether the policies let a deployment perform `action` on `arn:aws:${arn}` if all conditions are met. */
const canDeploy = (action: string, arn: string): boolean =>
  permits(allowed, action, `arn:aws:${arn}`) && !permits(denied, action, `arn:aws:${arn}`);

test('each policy is small enough for IAM', () => {
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
  const files = globSync('docs/policies/*.json');
  expect(files.filter((file) => JSON.stringify(policyIn(file)).length > 6_144)).toEqual([]);
});

test('the policies allow actions of every service in the templates', () => {
  const types = templates.flatMap(({ Resources }) => Object.values<any>(Resources).map(({ Type }) => Type));
  const services = types.map((type) =>
    type.split('::')[1].toLowerCase().replace('certificatemanager', 'acm'),
  );
  const prefixes = allowed.flatMap(({ Action }) => Action.map((action: string) => action.split(':')[0]));
  const missing = new Set(services).difference(new Set(prefixes));
  expect(Array.from(missing, (service) => `Allow ${service}:* in docs/policies.`)).toEqual([]);
});

test.each([
  ['dynamodb:UpdateTable', 'dynamodb:REGION:ACCOUNT:table/'],
  ['events:PutRule', 'events:REGION:ACCOUNT:rule/'],
  ['iam:PassRole', 'iam::ACCOUNT:role/'],
  ['lambda:UpdateAlias', 'lambda:REGION:ACCOUNT:function:'],
  ['logs:PutRetentionPolicy', 'logs:REGION:ACCOUNT:log-group:'],
  ['codedeploy:UpdateDeploymentGroup', 'codedeploy:REGION:ACCOUNT:deploymentgroup:'],
])('the policies allow %s only for resources of the stacks', (action, arn) => {
  const names = ['', 'Other-'].map((prefix) => `${prefix}${stackName('preview')}-Part1A2B`);
  expect(names.map((name) => canDeploy(action, `${arn}${name}`))).toEqual([true, false]);
});

test.each(Object.entries({ ...stages, preview: { retainData: false } }))(
  'in the stage %s, the policies deny access to items, and deny the deletion of data that the stage retains',
  (stage, { retainData }) => {
    const name = `${stackName(stage)}-Part1A2B`;
    const table = `dynamodb:REGION:ACCOUNT:table/${name}`;
    const items = boundary.filter((action) => /^dynamodb:(?:\w+Item|Query)$/.test(action));
    expect(items.filter((action) => canDeploy(action, table))).toEqual([]);
    const deletions: [action: string, arn: string][] = [
      ['dynamodb:DeleteTable', table],
      ['dynamodb:UpdateContinuousBackups', table],
      ['dynamodb:UpdateTimeToLive', table], // DynamoDB deletes items whose TTL attribute is in the past.
      ['dynamodb:DeleteBackup', `${table}/backup/01-ab`],
      ['logs:DeleteLogGroup', `logs:REGION:ACCOUNT:log-group:${name}`],
    ];
    expect(deletions.filter((deletion) => canDeploy(...deletion))).toEqual(retainData ? [] : deletions);
  },
);

test('the policies deny what lets other accounts or strangers use functions, or read logs', () => {
  const name = `${stackName('preview')}-Part1A2B`;
  const calls: [action: string, arn: string][] = [
    ['dynamodb:PutResourcePolicy', `dynamodb:REGION:ACCOUNT:table/${name}`],
    ['lambda:CreateFunctionUrlConfig', `lambda:REGION:ACCOUNT:function:${name}`],
    ['logs:PutSubscriptionFilter', `logs:REGION:ACCOUNT:log-group:${name}`],
  ];
  expect(calls.filter((call) => canDeploy(...call))).toEqual([]);
  const [{ Condition: condition, ...statement }, ...others] = deniedUnderConditions as [any];
  expect([statement, others]).toEqual([
    { Effect: 'Deny', Action: ['lambda:AddPermission'], Resource: ['*'] },
    [],
  ]);
  const services = new Set([condition.StringNotEquals['lambda:Principal']].flat());
  expect(condition).toEqual({ StringNotEquals: { 'lambda:Principal': expect.anything() } });
  for (const service of services) expect(service).toMatch(/^\w+\.amazonaws\.com$/);
  const permissions = templates.flatMap((template) => resourcesOf(template, 'AWS::Lambda::Permission'));
  const principals = new Set(permissions.map(([, { Properties }]) => Properties['Principal']));
  const advice = Array.from(
    principals.difference(services),
    (principal) => `Allow lambda:AddPermission for ${principal} in docs/policies/deploy.json.`,
  );
  expect(advice).toEqual([]);
});

test('the pipeline can assume only the bootstrap roles that deploy, not the role that reads the account', () => {
  expect(statementsOf('deploy-role-bootstrap').map(({ Resource }) => Resource)).toEqual([
    [
      'arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-deploy-role-ACCOUNT-REGION',
      'arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-file-publishing-role-ACCOUNT-REGION',
    ],
  ]);
});

describe('the break-glass policy', () => {
  const breakGlass = statementsOf('break-glass');
  const name = `${stackName('production')}-Part1A2B`;
  const table = `arn:aws:dynamodb:REGION:ACCOUNT:table/${name}`;

  test.each([
    ['cloudformation:DetectStackDrift', `arn:aws:cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a`],
    ['cloudformation:DescribeStackResourceDrifts', '*'],
    ['lambda:GetPolicy', `arn:aws:lambda:REGION:ACCOUNT:function:${name}`],
    ['lambda:AddPermission', `arn:aws:lambda:REGION:ACCOUNT:function:${name}`],
    ['lambda:RemovePermission', `arn:aws:lambda:REGION:ACCOUNT:function:${name}`],
    ['apigateway:PATCH', 'arn:aws:apigateway:REGION::/account'],
    ['iam:PassRole', `arn:aws:iam::ACCOUNT:role/${logRoleName()}`],
    ['dynamodb:UpdateTimeToLive', `${table}-restored`],
    ['dynamodb:DeleteTable', `${table}-restored`],
  ])('allows %s on %s', (action, arn) => {
    expect(permits(breakGlass, action, arn)).toBe(true);
  });

  test.each([
    ['dynamodb:UpdateTimeToLive', table],
    ['dynamodb:UpdateContinuousBackups', table],
    ['dynamodb:DeleteTable', table],
    ['iam:PassRole', `arn:aws:iam::ACCOUNT:role/${name}`],
    ['apigateway:PATCH', 'arn:aws:apigateway:REGION::/restapis/1a2b'],
    ['lambda:UpdateFunctionCode', `arn:aws:lambda:REGION:ACCOUNT:function:${name}`],
  ])('does not allow %s on %s', (action, arn) => {
    expect(permits(breakGlass, action, arn)).toBe(false);
  });

  test('lets operators permit invocations only to API Gateway, and pass roles only to API Gateway', () => {
    const conditions = breakGlass
      .filter(({ Action }) => /lambda:AddPermission|iam:PassRole/.test(Action.join()))
      .map(({ Condition }) => Condition.StringEquals);
    expect(conditions).toEqual([
      { 'lambda:Principal': 'apigateway.amazonaws.com' },
      { 'iam:PassedToService': 'apigateway.amazonaws.com' },
    ]);
  });
});

/** Returns a name that CloudFormation can generate for the account's logging role. */
function logRoleName(): string {
  const logicalId = resourcesOf(readableTemplate('account'), 'AWS::IAM::Role')[0]![0];
  return `${stackName('account')}-${logicalId}-1A2B3C`;
}

test('the role of the drift job only reads, and reads no items', () => {
  const actions: string[] = statementsOf('drift').flatMap(({ Action }) => Action);
  const reading =
    /^\w[\w-]*:(?:BatchDescribe|Describe|Detect|Get(?!Item|Records)|List)\w*(?:\*\w*)?$|^apigateway:GET$/;
  expect(actions.filter((action) => !reading.test(action))).toEqual([]);
  const table = 'arn:aws:dynamodb:REGION:ACCOUNT:table/PetStore-staging-StorageApiKeys1A2B';
  const items = ['GetItem', 'Query', 'Scan', 'BatchGetItem'];
  expect(items.filter((call) => permits(statementsOf('drift'), `dynamodb:${call}`, table))).toEqual([]);
});

test('the break-glass policy allows the calls of the scripts in docs/runbook, also on restored tables', () => {
  const calls = ['BatchGetItem', 'DescribeTable', 'PutItem', 'Scan', 'UpdateItem'];
  for (const table of ['StorageBooks1A2B', 'StorageBooks1A2B-restored']) {
    const arn = `arn:aws:dynamodb:REGION:ACCOUNT:table/${stackName('production')}-${table}`;
    expect(calls.filter((call) => !permits(statementsOf('break-glass'), `dynamodb:${call}`, arn))).toEqual(
      [],
    );
  }
});

test('the policies require the permissions boundary for new and changed roles, and protect the boundary', () => {
  const { name } = JSON.parse(blockWith('permissionsBoundary', document))[
    '@aws-cdk/core:permissionsBoundary'
  ];
  const arn = `arn:aws:iam::ACCOUNT:policy/${name}`;
  const grants = allowed.filter(({ Action }) => /iam:(?:Create|Put|Attach)Role/.test(Action.join()));
  const condition = { 'iam:PermissionsBoundary': arn };
  expect(grants.map(({ Condition }) => Condition.StringEquals)).toEqual([condition, condition]);
  expect(permits(denied, 'iam:CreatePolicyVersion', arn)).toBe(true);
  expect(
    permits(denied, 'iam:DeleteRolePermissionsBoundary', `arn:aws:iam::ACCOUNT:role/${stackName('A')}`),
  ).toBe(true);
});

test('the permissions boundary allows exactly the actions that the roles in the stacks need', () => {
  const inline = templates.flatMap((template) => resourcesOf(template, 'AWS::IAM::Policy'));
  const used = inline.flatMap(([, { Properties }]) => Properties['PolicyDocument'].Statement);
  // API Gateway's role gets these actions from an AWS managed policy, and functions get those of X-Ray with `tracing`.
  const managed = /^logs:(?:CreateLogGroup|Describe|FilterLog|GetLog)|^xray:/;
  const needed = new Set<string>(used.flatMap(({ Action }) => Action));
  const missing = [...needed.difference(new Set(boundary))];
  expect(missing.map((action) => `Allow ${action} in docs/policies/boundary.json.`)).toEqual([]);
  expect(boundary.filter((action) => !managed.test(action) && !needed.has(action))).toEqual([]);
});
