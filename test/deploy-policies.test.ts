import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { permits } from '../infra/local/emulator/template/permissions.ts';
import { pascalCase, stackName } from '../shared/names.ts';
import { blockWith } from './support/markdown-code.ts';
import { readableTemplate, resourcesOf, stageNames } from './support/stack-template.ts';
import { stages } from './support/stages.ts';

const document = readFileSync('docs/pipelines.md', 'utf8');
const policyIn = (file: string): any => JSON.parse(readFileSync(file, 'utf8'));

/** Returns the statements of the policies in the files of `docs/policies` that have these names. */
const statementsOf = (...names: string[]): any[] =>
  names
    .flatMap((name) => policyIn(`docs/policies/${name}.json`).Statement)
    .map((one) => ({ ...one, Action: [one.Action].flat(), Resource: [one.Resource].flat() }));

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
  ['xray:UpdateSamplingRule', 'xray:REGION:ACCOUNT:sampling-rule/'],
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
      ['backup:DeleteBackupVault', `backup:REGION:ACCOUNT:backup-vault:${name}`],
    ];
    expect(deletions.filter((deletion) => canDeploy(...deletion))).toEqual(retainData ? [] : deletions);
  },
);

test('the policies deny what lets other accounts or strangers use functions, or read logs and backups', () => {
  const name = `${stackName('preview')}-Part1A2B`;
  const calls: [action: string, arn: string][] = [
    ['backup:PutBackupVaultAccessPolicy', `backup:REGION:ACCOUNT:backup-vault:${name}`],
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

test('the boundary lets backups be copied only into vaults of the stacks and the vault that the operator inserts', () => {
  const copying = statementsOf('boundary').filter(({ Action }) =>
    Action.includes('backup:CopyIntoBackupVault'),
  );
  expect(copying.map(({ Resource }) => Resource)).toEqual([
    [
      'arn:aws:backup:*:*:backup-vault:PUT-YOUR-VAULT-HERE',
      'arn:aws:backup:REGION:ACCOUNT:backup-vault:PetStore-*',
    ],
  ]);
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

describe('the policies of the deployment roles', () => {
  const sources = globSync('infra/operate/deploy/*.ts').map((file) => readFileSync(file, 'utf8'));
  const calls = new Set(
    Array.from(sources.join('\n').matchAll(/\baws\('(\w+)', '([\w-]+)'/g), ([, service, operation]) =>
      service === 'apigateway'
        ? 'apigateway:GET'
        : `${service}:${pascalCase(operation!.replaceAll('-', ' '))}`,
    ),
  );
  const arns: Record<string, string> = {
    apigateway: 'arn:aws:apigateway:REGION::/restapis/ab12/stages/production',
    cloudformation: 'arn:aws:cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a2b',
    cloudwatch: 'arn:aws:cloudwatch:REGION:ACCOUNT:alarm:PetStore-production-Release',
    lambda: 'arn:aws:lambda:REGION:ACCOUNT:function:PetStore-production-List',
  };
  const checks = statementsOf('deploy-role-checks').map((one) => ({
    ...one,
    Resource: one.Resource.map((arn: string) => arn.replaceAll('staging', 'production')),
  }));
  const ofProduction = [...checks, ...statementsOf('deploy-role-production')];

  test('allow every call of npm run deploy in production', () => {
    expect(calls.size).toBeGreaterThan(12);
    const missing = [...calls].filter(
      (action) => !permits(ofProduction, action, arns[action.split(':')[0]!]!),
    );
    expect(missing).toEqual([]);
  });

  test('let the role of staging only read and cancel, and let neither role use items, keys or the stacks of others', () => {
    const changes = ['lambda:UpdateAlias', 'cloudformation:UpdateStack', 'lambda:PutFunctionConcurrency'];
    expect(changes.filter((action) => permits(checks, action, arns[action.split(':')[0]!]!))).toEqual([]);
    const table = 'arn:aws:dynamodb:REGION:ACCOUNT:table/PetStore-production-StorageApiKeys1A2B';
    const items = ['GetItem', 'Query', 'Scan', 'BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem'];
    expect(items.filter((call) => permits(ofProduction, `dynamodb:${call}`, table))).toEqual([]);
    const other = 'arn:aws:lambda:REGION:ACCOUNT:function:Other-production-List';
    expect(permits(ofProduction, 'lambda:UpdateAlias', other)).toBe(false);
  });
});

test('the break-glass policy allows the calls of npm run deploy -- --back', () => {
  const calls: [string, string][] = [
    ['cloudformation:DescribeStacks', 'cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a2b'],
    ['cloudformation:GetTemplate', 'cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a2b'],
    ['cloudformation:ListStackResources', 'cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a2b'],
    ['lambda:GetAlias', 'lambda:REGION:ACCOUNT:function:PetStore-production-List'],
    ['lambda:GetFunctionConfiguration', 'lambda:REGION:ACCOUNT:function:PetStore-production-List'],
    ['lambda:UpdateAlias', 'lambda:REGION:ACCOUNT:function:PetStore-production-List'],
  ];
  expect(
    calls.filter(([action, arn]) => !permits(statementsOf('break-glass'), action, `arn:aws:${arn}`)),
  ).toEqual([]);
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
  // API Gateway's and AWS Backup's roles get these actions from AWS managed policies, not from templates.
  const managed =
    /^logs:(?:CreateLogGroup|Describe|FilterLog|GetLog)|^(?:backup|kms):|^dynamodb:(?:Describe|ListTags|\w+Backup)/;
  const needed = new Set<string>(used.flatMap(({ Action }) => Action));
  const missing = [...needed.difference(new Set(boundary))];
  expect(missing.map((action) => `Allow ${action} in docs/policies/boundary.json.`)).toEqual([]);
  expect(boundary.filter((action) => !managed.test(action) && !needed.has(action))).toEqual([]);
});
