import { type CfnElement, Stack, Validations } from 'aws-cdk-lib';
import type { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { operations } from '../../shared/contract/operations.ts';
import { metrics } from '../../shared/names.ts';
import type { PetStoreFunctions, StageWithFunctions } from './functions.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { countedPerMinute, MINUTE } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';

/**
 * Canary deployments: a new version gets a tenth of the requests for ten minutes, and is rolled back if an alarm fires. As
 * counts come minutes late, five minutes would leave the errors of the first two.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function shiftTraffic(
  scope: Construct,
  { stage, functions, monitoring }: StageWithFunctions,
  serverErrors: Alarm,
): void {
  const application = new LambdaApplication(scope, 'Deployments');
  const role = deploymentRole(scope, functions);

  for (const [operation, fn] of Object.entries(functions)) {
    const alarms = [serverErrors, ...addAlarms(monitoring, stage, operation, fn)];
    const group = new LambdaDeploymentGroup(scope, `${fn.name}Deployment`, {
      application,
      // The construct would attach a managed policy for every function of the account.
      role: role.withoutPolicyUpdates(),
      alias: fn.live as Alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // The deployment that brings the groups may use them at once: their role must have its permissions by then.
    group.node.addDependency(role);
  }
}

/** Alarms on the newest version, one for each metric: their sum would need FILL, which hides counts that come late. */
function addAlarms(monitoring: Monitoring, stage: string, operation: string, fn: LambdaFunction): Alarm[] {
  const { name, lambda, live } = fn;
  const { functionName: FunctionName } = lambda;
  const { version } = lambda.currentVersion;
  const add = (id: string, failure: string, metric: Metric): Alarm =>
    monitoring.addAlarm(`${name}NewVersion${id}`, {
      chapter: 'Errors of a new version',
      meaning: `The version of ${name} deployed last ${failure}.`,
      metric,
      threshold: 1,
    });
  const Resource = `${FunctionName}:${live.aliasName}`;
  const dimensionsMap = { FunctionName, Resource, ExecutedVersion: version };
  const errors = lambda.metricErrors({ dimensionsMap, period: MINUTE });
  const alarms = [add('Errors', 'crashed, timed out, or could not start or decide', errors)];
  // What an operation's code throws becomes a response, which is not an error to Lambda.
  if (operation in operations) {
    const internalErrors = countedPerMinute(stage, metrics.internalErrors, { operation, version });
    alarms.push(add('InternalErrors', 'responded with internal_error', internalErrors));
  }
  return alarms;
}

/** The permissions of AWSCodeDeployRoleForLambdaLimited without hooks and S3, for these functions alone. */
function deploymentRole(scope: Construct, functions: PetStoreFunctions): Role {
  const role = new Role(scope, 'DeploymentRole', {
    // https://docs.aws.amazon.com/codedeploy/latest/userguide/security_confused_deputy.html
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  for (const { lambda, live } of Object.values(functions)) {
    const { functionArn } = lambda;
    const aliasArn = `${functionArn}:${live.aliasName}`;
    const actions = ['lambda:GetAlias', 'lambda:UpdateAlias'];
    role.addToPolicy(new PolicyStatement({ actions, resources: [functionArn, aliasArn] }));
    // Authorized on the ARN of the alias or of a version, whose number a template does not know.
    const reads = ['lambda:GetProvisionedConcurrencyConfig'];
    role.addToPolicy(new PolicyStatement({ actions: reads, resources: [`${functionArn}:*`] }));
    const functionId = Stack.of(role).getLogicalId(lambda.node.defaultChild as CfnElement);
    const id = `AwsSolutions::AwsSolutions-IAM5[Resource::<${functionId}.Arn>:*]`;
    Validations.of(role).acknowledge({ id, reason: 'CodeDeploy reads of any version, and changes none.' });
  }
  // CodeDeploy asks for alarms by name in one call, which AWS permits for all or none.
  role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'CodeDeploy reads alarms, and nothing else, across the account.',
  });
  return role;
}
