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
import { countPerMinute, MINUTE } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';

/**
 * Deploys new versions as canaries. A canary gets 10% of the requests for 10 minutes and rolls back if an alarm fires.
 * Metrics arrive minutes late, so a 5-minute canary would detect errors only from its first 2 minutes.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function deployByCanary(
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
      // Prevents the construct from attaching a managed policy that covers every function in the account.
      role: role.withoutPolicyUpdates(),
      alias: fn.live as Alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // CloudFormation can start a canary as soon as the group exists, so the role needs its permissions first.
    group.node.addDependency(role);
  }
}

/** Adds one alarm per metric of the newest version. An alarm on the sum would need FILL, which hides late data. */
function addAlarms(monitoring: Monitoring, stage: string, operation: string, fn: LambdaFunction): Alarm[] {
  const { name, lambda, live } = fn;
  const { functionName: FunctionName } = lambda;
  const { version } = lambda.currentVersion;
  const add = (id: string, failure: string, metric: Metric): Alarm =>
    monitoring.addAlarm(`${name}NewVersion${id}`, {
      section: 'Errors of a new version',
      description: `Clients get 5xx responses. The newest version of ${name} ${failure}. A running canary rolls back.`,
      metric,
      threshold: 1,
    });
  const Resource = `${FunctionName}:${live.aliasName}`;
  const dimensionsMap = { FunctionName, Resource, ExecutedVersion: version };
  const errors = lambda.metricErrors({ dimensionsMap, period: MINUTE });
  const alarms = [add('Errors', 'threw an error, crashed, timed out or could not start', errors)];
  // Errors that an operation throws become responses, so Lambda's Errors metric does not count these errors.
  if (operation in operations) {
    const internalErrors = countPerMinute(stage, metrics.internalErrors, { operation, version });
    alarms.push(add('InternalErrors', 'returned internal_error', internalErrors));
  }
  return alarms;
}

/** Creates a role that, unlike AWSCodeDeployRoleForLambdaLimited, covers only `functions` and neither hooks nor S3. */
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
    // All versions are allowed, because the number of the new version is not known during synthesis.
    const reads = ['lambda:GetProvisionedConcurrencyConfig'];
    role.addToPolicy(new PolicyStatement({ actions: reads, resources: [`${functionArn}:*`] }));
    const functionId = Stack.of(role).getLogicalId(lambda.node.defaultChild as CfnElement);
    const id = `AwsSolutions::AwsSolutions-IAM5[Resource::<${functionId}.Arn>:*]`;
    Validations.of(role).acknowledge({
      id,
      reason: 'CodeDeploy can read every version but cannot change versions.',
    });
  }
  // CodeDeploy requests several alarms at once. IAM cannot restrict such requests to certain alarms.
  role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'This statement only allows CodeDeploy to read the alarms in the account.',
  });
  return role;
}
