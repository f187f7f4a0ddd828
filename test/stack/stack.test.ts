import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../support/assembly.ts';
import { product } from '../support/product.ts';
import { functionNames, readableTemplate, resourcesOf, stageNames } from '../support/stack-template.ts';

const stackNameOf = (stage: string) => `${product.stackPrefix}-${stage}`;

const { assembly, stdout } = await sharedSynthesis();

describe('cdk synth', () => {
  test('creates the account stack, and one stack per stage with tags and a dependency on the account stack', () => {
    const [service, dependsOnAccount] = [product.tag, true];
    expect(stdout).toBe('');
    const stacks = Object.entries<any>(readReport('manifest.json').artifacts)
      .filter(([, { type }]) => type === 'aws:cloudformation:stack')
      .map(([name, { properties, dependencies }]) => {
        const { terminationProtection: isProtected, tags } = properties;
        return {
          name,
          ...tags,
          isProtected,
          dependsOnAccount: dependencies.includes(stackNameOf('account')),
        };
      });
    expect(stacks).toEqual([
      { name: stackNameOf('account'), service, isProtected: false, dependsOnAccount: false },
      { name: stackNameOf('staging'), service, stage: 'staging', isProtected: false, dependsOnAccount },
      { name: stackNameOf('production'), service, stage: 'production', isProtected: true, dependsOnAccount },
    ]);
  });

  test('accepts a cdk-nag finding only if its construct acknowledges the finding', () => {
    const report = readReport('validation-report.json').pluginReports.find(
      ({ pluginName }: any) => pluginName === 'AwsSolutions',
    );
    expect(report).toMatchObject({ conclusion: 'success', violations: [] });
    expect(report.suppressedViolations).not.toHaveLength(0);
    for (const { acknowledgedAt, reason } of report.suppressedViolations) {
      // Acknowledgments for a stack or the app are not allowed, because they would also cover new constructs.
      expect(acknowledgedAt).toMatch(/^[\w-]+\/\w/);
      expect(reason).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe.each(stageNames)('the stack of %s', (stage) => {
  const template = readableTemplate(stage);

  // A fixed name would prevent CloudFormation from replacing the resource and from creating a second stack. The dashboard and
  // the web ACL have the name of the stack, because CloudFormation replaces them only if their name changes.
  test('lets CloudFormation choose resource names', () => {
    const chosen =
      /^(Alarm|Application|DeploymentGroup|Function|LogGroup|ManagedPolicy|Role|Table|Topic)Name$/;
    const named = Object.entries<any>(template.Resources).flatMap(([name, { Properties = {} }]) =>
      Object.keys(Properties)
        .filter((property) => chosen.test(property))
        .filter(
          (property) => !/^\$\{|\$\{AWS::StackId\}$|CurrentVersion\.Version\}$/.test(Properties[property]),
        )
        .map((property) => `${name} ${property}`),
    );
    expect(named).toEqual([]);
  });

  test('outputs the base URL, the API key table and the topics', () => {
    const values = Object.entries<any>(template.Outputs).map(([name, { Value }]) => [name, Value]);
    expect(Object.fromEntries(values)).toEqual({
      BaseUrl: `https://\${ApiRestApi}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/\${ApiRestApiDeploymentStage${stage}}/v1`,
      ApiKeysTable: '${StorageApiKeys}',
      AlarmTopic: '${MonitoringAlarmTopic}',
      NoticeTopic: '${MonitoringNoticeTopic}',
    });
  });

  // A new AWS account allows so few concurrent executions that reserving some of them makes the deployment fail.
  test.each(functionNames)('gives %s its own log group and no reserved concurrency', (name) => {
    const { LoggingConfig, ReservedConcurrentExecutions } = template.Resources[name].Properties;
    expect([LoggingConfig.LogGroup, ReservedConcurrentExecutions]).toEqual([`\${${name}Logs}`, undefined]);
  });

  test.each(functionNames)(
    'logs a report of each invocation of %s, and updates its runtime only with releases',
    (name) => {
      const { Resources } = template;
      expect(Resources[name].Properties.LoggingConfig.SystemLogLevel).toBe('INFO');
      const policies = [
        Resources[name].Properties.RuntimeManagementConfig,
        Resources[`${name}CurrentVersion`].Properties.RuntimePolicy,
      ];
      for (const policy of policies) expect(policy).toEqual({ UpdateRuntimeOn: 'FunctionUpdate' });
    },
  );

  const logGroups = resourcesOf(template, 'AWS::Logs::LogGroup');
  test.each(logGroups)('keeps the logs in %s for the configured time', (_name, logGroup) => {
    const staging = { Properties: { RetentionInDays: 14 }, DeletionPolicy: 'Delete' };
    const retained = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
    const production = { Properties: { RetentionInDays: 365 }, ...retained };
    expect(logGroup).toMatchObject({ staging, production }[stage]);
  });

  test('does not contain account settings or the name of another stage', () => {
    const text = JSON.stringify(template);
    expect(text).not.toContain('AWS::ApiGateway::Account');
    expect(text).not.toContain(stageNames.find((name) => name !== stage)!);
  });
});

function readReport(name: string): any {
  return JSON.parse(readFileSync(join(assembly, name), 'utf8'));
}
