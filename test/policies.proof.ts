import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { blockWith, codeBlocksIn } from './support/markdown-code.ts';

// https://github.com/duo-labs/parliament
const script = `
import json, parliament, sys
for statement in json.load(sys.stdin):
    policy = json.dumps({"Version": "2012-10-17", "Statement": statement})
    for finding in parliament.analyze_policy_string(policy).findings:
        print(json.dumps([finding.issue, finding.detail, statement["Action"]]))`;
const run = (input: object) => spawnSync('python3', ['-c', script], { input: JSON.stringify(input) });

const statements: any[] = globSync(['docs/*.md', 'docs/policies/*.json'])
  .map((file) => readFileSync(file, 'utf8'))
  .flatMap((text) => [text, ...codeBlocksIn(text).map(({ code }) => code)])
  .filter((code) => /^\{\s*"Version"/.test(code))
  .map((code) => code.replaceAll('ACCOUNT', '123456789012').replaceAll(/REGION|PUT-[\w-]+/g, 'eu-west-1'))
  .flatMap((code) => JSON.parse(code).Statement)
  // Trust policies, which have a principal instead of a resource, are skipped, because parliament does not support them.
  .filter(({ Principal }) => !Principal);

/** Returns whether a finding of parliament is a false positive, or accepted as harmless. */
function isAccepted([issue, detail, actions]: [string, any, string | string[]]): boolean {
  // IAM documents string operators for `iam:PermissionsBoundary`, although its value is an ARN.
  if (issue === 'MISMATCHED_TYPE_BUT_USABLE') return /StringEquals .* given Arn/.test(detail);
  // A wildcard such as `lambda:*` also matches actions on resources that the statement does not list.
  if (issue === 'RESOURCE_MISMATCH')
    return detail.every(({ action }: any) => ![actions].flat().includes(action));
  // These actions are accepted for all resources, because they only read data, or create and write logs.
  const harmless = /Describe|Filter|Get|List|logs:CreateLog|logs:PutLog/;
  return issue === 'RESOURCE_STAR' && detail.every((action: string) => harmless.test(action));
}

const isInstalled = run([]).status === 0;
if (!isInstalled && process.env['CI'] === 'true')
  throw new Error("Parliament is not installed. Run pip install parliament==1.6.4 'setuptools<81'.");

(isInstalled ? describe : describe.skip)('with parliament for python3,', () => {
  test('parliament has no findings in the documented policies except accepted findings', () => {
    const { status, stdout } = run(statements);
    const lines = String(stdout).match(/.+/g) ?? [];
    expect(status).toBe(0);
    expect(lines.filter((line) => !isAccepted(JSON.parse(line)))).toEqual([]);
  });
});

test('the customized bootstrap lets the pipeline change only the stacks of this project', () => {
  const cdk = `'${process.execPath}' node_modules/aws-cdk/bin/cdk bootstrap --show-template`;
  // This function replaces npx. Instead of deploying the template, it prints the template as JSON, and its arguments.
  const npx = `npx() {
    shift 2
    if [ "$1" = --show-template ]; then ${cdk}; else ${cdk} --json --template "$3" && echo "$@" >&2; fi
  }`;
  const limit = blockWith('limit()', readFileSync('docs/pipelines.md', 'utf8'));
  const { stdout, stderr } = spawnSync('bash', ['-ec', `${npx}\n${limit}`], {
    env: { PATH: process.env['PATH'], ACCOUNT: '123456789012', AWS_REGION: 'eu-west-1' },
    stdio: ['ignore', 'pipe', 'pipe'], // With a socket as standard input, bash would run ~/.bashrc.
    encoding: 'utf8',
  });
  expect(stderr).toMatch(
    /^aws:\/\/123456789012\/eu-west-1 --template \S+ --force --cloudformation-execution-policies arn:aws:iam::123456789012:policy\/pet-store-deploy$/m,
  );
  const { Parameters, Resources } = JSON.parse(stdout);
  expect(Parameters.BootstrapVariant.Default).toBe('Pet store');
  const stacks = 'arn:aws:cloudformation:eu-west-1:123456789012:stack/PetStore-*/*';
  const changing = Resources.DeploymentActionRole.Properties.Policies.flatMap(
    ({ PolicyDocument }: any) => PolicyDocument.Statement,
  ).filter(({ Action }: any) => /cloudformation:/.test([Action].flat().join()));
  expect(changing.map(({ Sid, Resource }: any) => [Sid, Resource])).toEqual([
    ['DeployPermissions', stacks],
    ['CliPermissions', stacks],
    ['Refactor', stacks],
  ]);
});
