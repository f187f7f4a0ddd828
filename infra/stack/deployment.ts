import type { CfnElement } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { operations } from '../../shared/contract/operations.ts';
import { metrics } from '../../shared/names.ts';
import type { Functions } from './functions.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { acknowledge } from './roles.ts';
import { excess, MINUTE, type StageAlarmProps, type StageStack } from './stage-stack.ts';

/**
 * Deploys new versions as canaries. A canary gets 10% of the requests for 10 minutes and rolls back if an alarm fires.
 * Metrics can be 3 minutes late, so alarms would detect only errors of the first 2 minutes of a 5-minute canary.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function addCanaryDeployments(stack: StageStack, functions: Functions): void {
  const application = new codedeploy.LambdaApplication(stack, 'Deployments');
  const role = addRole(stack, Object.values(functions));
  for (const [operation, fn] of Object.entries(functions)) {
    const group = new codedeploy.LambdaDeploymentGroup(stack, `${fn.node.id}Deployment`, {
      application,
      // Prevents the construct from attaching a managed policy that covers every function in the account.
      role: role.withoutPolicyUpdates(),
      alias: fn.live as lambda.Alias,
      deploymentConfig: codedeploy.LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      alarms: [...stack.rollbackAlarms, ...addAlarms(stack, operation, fn)],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // CloudFormation can start a canary as soon as the group exists, so the role needs its permissions first.
    group.node.addDependency(role);
  }
}

/**
 * Adds an alarm for each failure metric of a function's newest version. One alarm on the sum of the metrics would need
 * FILL, which replaces late data with zero.
 */
function addAlarms(stack: StageStack, operation: string, fn: LambdaFunction): cloudwatch.Alarm[] {
  const { version } = fn.currentVersion;
  const { functionName: FunctionName } = fn;
  const add = (id: string, failure: string, props: Omit<StageAlarmProps, 'section' | 'description'>) =>
    stack.addAlarm(`${fn.node.id}NewVersion${id}`, {
      section: 'Errors of a new version',
      description: `Clients get error responses. The newest version of ${fn.node.id} ${failure}. A running canary rolls back.`,
      ...props,
    });
  const Resource = `${FunctionName}:${fn.live.aliasName}`;
  const dimensionsMap = { FunctionName, Resource, ExecutedVersion: version };
  const errors = fn.metricErrors({ dimensionsMap, period: MINUTE });
  const rejections = stack.countPerMinute(metrics.rejections, { operation, version });
  const invocations = fn.metricInvocations({ dimensionsMap });
  const alarms = [
    add('Errors', 'threw an error, crashed, timed out or could not start', { metric: errors }),
    add('Rejections', 'rejected most requests', {
      metric: excess(rejections, 0.5, invocations),
      threshold: 5,
      datapointsToAlarm: 2,
    }),
  ];
  // Errors that an operation throws become responses, so Lambda's Errors metric does not count these errors.
  if (operation in operations) {
    const internalErrors = stack.countPerMinute(metrics.internalErrors, { operation, version });
    alarms.push(add('InternalErrors', 'returned internal_error', { metric: internalErrors }));
  }
  return alarms;
}

/** Adds CodeDeploy's role. Unlike AWSCodeDeployRoleForLambdaLimited, the role grants no access to other functions. */
function addRole(stack: StageStack, functions: LambdaFunction[]): iam.Role {
  const role = new iam.Role(stack, 'DeploymentRole', {
    // https://docs.aws.amazon.com/codedeploy/latest/userguide/security_confused_deputy.html
    assumedBy: new iam.ServicePrincipal('codedeploy.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  });
  const allow = (actions: string[], ...resources: string[]) =>
    role.addToPolicy(new iam.PolicyStatement({ actions, resources }));
  for (const { functionArn, live, node } of functions) {
    allow(['lambda:GetAlias', 'lambda:UpdateAlias'], functionArn, `${functionArn}:${live.aliasName}`);
    // All versions are allowed, because the number of the new version is not known during synthesis.
    allow(['lambda:GetProvisionedConcurrencyConfig'], `${functionArn}:*`);
    const logicalId = stack.getLogicalId(node.defaultChild as CfnElement);
    const reason = 'CodeDeploy can read every version but cannot change versions.';
    acknowledge(role, `IAM5[Resource::<${logicalId}.Arn>:*]`, reason);
  }
  // CodeDeploy requests several alarms at once. IAM cannot restrict these requests to specific alarms.
  allow(['cloudwatch:DescribeAlarms'], '*');
  const reason = 'This statement only allows CodeDeploy to read the alarms in the account.';
  acknowledge(role, 'IAM5[Resource::*]', reason);
  return role;
}
