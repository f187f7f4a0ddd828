import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections, type OperationId } from '../../shared/contract/operations.ts';
import { metrics } from '../../shared/names.ts';
import type { Functions } from './functions.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { acknowledge, principalOf } from './roles.ts';
import { MINUTE, type StageStack } from './stage-stack.ts';

/**
 * Lets CodeDeploy shift the requests of each function to a new version: 10% of them for 10 minutes, then all. If an alarm
 * about a new version fires meanwhile, the requests go back to the old version, and CloudFormation rolls the stack back.
 * Returns the application, whose events tell of such deployments.
 *
 * The canary takes 10 minutes, because metrics can be 3 minutes late. If `isCanaryOff` is set, the aliases do not use
 * CodeDeploy, but its resources stay for the next deployment.
 */
export function addCanary(stack: StageStack, functions: Functions): codedeploy.LambdaApplication {
  const scope = new Construct(stack, 'Canary');
  const application = new codedeploy.LambdaApplication(scope, 'Application');
  const role = addRole(scope, Object.values(functions));
  const alarmOf = new Map(
    Object.entries(functions).map(([operation, fn]) => [fn, addAlarm(stack, operation, fn)]),
  );
  for (const [index, collection] of collections.entries()) {
    const fns = Object.values<Operation>(collection.operations).map(({ id }) => functions[id as OperationId]);
    // If one new version fails, all functions of the collection go back together, and the authorizer with the first of them.
    const watched = [...fns, functions.authorizer];
    const alarms = watched.map((fn) => alarmOf.get(fn)!);
    for (const fn of index === 0 ? watched : fns) {
      const group = new codedeploy.LambdaDeploymentGroup(scope, fn.node.id, {
        application,
        alias: fn.live as lambda.Alias,
        alarms,
        deploymentConfig: codedeploy.LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
        // Without this, an alias would still point to both versions after somebody stops a deployment.
        // https://docs.aws.amazon.com/codedeploy/latest/userguide/troubleshooting-deployments-lambda.html
        autoRollback: { stoppedDeployment: true },
        // Otherwise, the CDK would add a managed policy with permissions for all functions of the account.
        role: role.withoutPolicyUpdates(),
      });
      // A deployment must not start before the role has its policy.
      group.node.addDependency(role);
    }
  }
  if (stack.stage.isCanaryOff)
    for (const { live } of Object.values(functions))
      delete (live.node.defaultChild as lambda.CfnAlias).cfnOptions.updatePolicy;
  return application;
}

/**
 * Adds an alarm about the version of a function that the stack deploys. A new version gets a new alarm with a name of its
 * own, because an alarm that CloudFormation updates keeps its state, and CodeDeploy stops a deployment whose alarm is
 * active. The alarm of a function that does not change stays, so that its failures stop the release of the others.
 */
function addAlarm(stack: StageStack, operation: string, fn: LambdaFunction): cloudwatch.Alarm {
  const { version } = fn.currentVersion;
  const crashes = new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Errors',
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
    dimensionsMap: {
      FunctionName: fn.functionName,
      Resource: `${fn.functionName}:live`,
      ExecutedVersion: version,
    },
    statistic: cloudwatch.Stats.SUM,
    period: MINUTE,
  });
  const failures = new cloudwatch.MathExpression({
    expression: 'SUM([FILL(crashes, 0), FILL(responses, 0)])',
    usingMetrics: { crashes, responses: stack.countPerMinute(metrics.versionErrors, { operation, version }) },
    label: `Failures of ${fn.node.id}`,
    period: MINUTE,
  });
  const isAuthorizer = operation === 'authorizer'; // sends no responses of its own
  return stack.addAlarm(`${fn.node.id}NewVersion`, {
    alarmName: `${stack.stackName}-${fn.node.id}-${version}`,
    urgency: 'none',
    section: 'Errors of a new version',
    description: `${fn.node.id} ${isAuthorizer ? 'crashed or timed out' : 'crashed, timed out or answered with a 5xx'} 3 times in one minute. A running deployment rolls back.`,
    metric: isAuthorizer ? crashes : failures,
    threshold: 3,
  });
}

/**
 * Adds the role with which CodeDeploy moves the aliases. Its permissions are those of AWS's policy for Lambda deployments
 * without hooks and artifacts, for these functions only.
 * https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSCodeDeployRoleForLambdaLimited.html
 */
function addRole(scope: Construct, functions: LambdaFunction[]): iam.Role {
  const role = new iam.Role(scope, 'Role', { assumedBy: principalOf('codedeploy') });
  role.addToPolicy(
    new iam.PolicyStatement({
      actions: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
      resources: functions.flatMap(({ functionArn }) => [functionArn, `${functionArn}:live`]),
    }),
  );
  role.addToPolicy(new iam.PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
  acknowledge(role, 'IAM5[Resource::*]', 'Reading the states of alarms reveals and changes no data.');
  return role;
}
