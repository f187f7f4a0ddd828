import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { permits } from '../infra/local/emulator/template/permissions.ts';
import { stackName } from '../shared/names.ts';
import { blockWith } from './support/markdown-code.ts';
import { readableTemplate, resourcesOf, stageNames } from './support/stack-template.ts';

/**
 * Actions that AWS lists for the handlers and tags of each resource type. Actions for unused features are omitted. A
 * star follows an action that must be allowed for all resources. The actions come from the output of
 * `aws cloudformation describe-type --type RESOURCE --type-name TYPE --query Schema`.
 */
const file = 'test/support/cloudformation-permissions.json';
const listed: Record<string, string[]> = JSON.parse(readFileSync(file, 'utf8'));

/** Resource types that only stages with a `domain` or an `alarmEmail` contain. */
const optional = [
  'ApiGateway::BasePathMapping',
  'ApiGateway::DomainName',
  'Route53::RecordSet',
  'SNS::Subscription',
].map((type) => `AWS::${type}`);

const document = readFileSync('docs/pipelines.md', 'utf8');
const [boundary, ...execution] = ['Monitoring', 'Functions', 'WithoutResources', 'Domains'].map(
  (sid): any[] => JSON.parse(blockWith(`"Sid": "${sid}"`, document)).Statement,
);
const allowed = execution.flat().map(({ Resource, ...rest }) => ({ ...rest, Resource: [Resource].flat() }));
const templates = [...stageNames, 'account' as const].map(readableTemplate);

test('the policies allow only the actions that AWS lists for the resource types in the stacks', () => {
  const types = templates.flatMap(({ Resources }) => Object.values<any>(Resources).map(({ Type }) => Type));
  const needed = [...types, ...optional].flatMap(
    (type) => listed[type] ?? `Add ${type} to ${file} and docs/pipelines.md.`,
  );
  const actions = allowed.flatMap(({ Action, Resource }) =>
    Action.map((action: string) => (Resource.includes('*') ? `${action} *` : action)),
  );
  expect(new Set(actions)).toEqual(new Set([...needed, 'ssm:GetParameters']));
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
  for (const statements of [boundary, ...execution])
    expect(JSON.stringify({ Version: '2012-10-17', Statement: statements }).length).toBeLessThan(6_144);
});

test.each([
  ['dynamodb:UpdateTable', 'dynamodb:REGION:ACCOUNT:table/'],
  ['iam:PassRole', 'iam::ACCOUNT:role/'],
  ['lambda:UpdateAlias', 'lambda:REGION:ACCOUNT:function:'],
  ['logs:DeleteLogGroup', 'logs:REGION:ACCOUNT:log-group:'],
])('the policies allow %s only for resources of the stacks', (action, arn) => {
  const names = ['', 'Other-'].map((prefix) => `${prefix}${stackName('preview')}-Part1A2B`);
  expect(names.map((name) => permits(allowed, action, `arn:aws:${arn}${name}`))).toEqual([true, false]);
});

test('the policies allow the creation and change of roles only if the roles have the permissions boundary', () => {
  const { name } = JSON.parse(blockWith('permissionsBoundary', document))[
    '@aws-cdk/core:permissionsBoundary'
  ];
  const condition = { 'iam:PermissionsBoundary': `arn:aws:iam::ACCOUNT:policy/${name}` };
  const grants = allowed.filter(({ Action }) => /iam:(?:Create|Put|Attach)Role/.test(Action.join()));
  expect(grants.map(({ Condition }) => Condition.StringEquals)).toEqual([condition, condition]);
});

test('the permissions boundary allows only the actions that the roles in the stacks need', () => {
  const policies = templates.flatMap((template) => resourcesOf(template, 'AWS::IAM::Policy'));
  const used = policies.flatMap(([, { Properties }]) => Properties['PolicyDocument'].Statement);
  // API Gateway's logging role needs these actions through AmazonAPIGatewayPushToCloudWatchLogs.
  const forGateway = /^logs:(?:CreateLogGroup|Describe(?:LogGroups|LogStreams)|(?:Filter|Get)LogEvents)$/;
  const actions = boundary!.flatMap(({ Action }) => Action).filter((action) => !forGateway.test(action));
  expect(new Set(actions)).toEqual(new Set(used.flatMap(({ Action }) => Action)));
});
