import { Validations } from 'aws-cdk-lib';
import { type Alarm, type MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { metrics } from '../../shared/names.ts';
import type { PetStoreFunctions } from './functions.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { countedPerMinute, MINUTE, sumOf } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';

interface DeploymentProps {
  stage: string;
  functions: PetStoreFunctions;
  monitoring: Monitoring;
  serverErrors: Alarm;
}

/**
 * Canary deployments: a new version gets a tenth of the requests for five minutes, and is rolled back if an alarm fires.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function shiftTraffic(
  scope: Construct,
  { stage, functions, monitoring, serverErrors }: DeploymentProps,
): void {
  const application = new LambdaApplication(scope, 'Deployments');
  const role = deploymentRole(scope, functions);

  for (const [operation, fn] of Object.entries(functions)) {
    const newVersionErrors = monitoring.addAlarm(`${fn.name}NewVersionErrors`, {
      chapter: 'Errors of a new version',
      meaning: `The version of ${fn.name} deployed last failed: it crashed, timed out, could not start or decide, or answered internal_error.`,
      metric: errorsOfVersion(stage, operation, fn),
      threshold: 1,
    });
    const group = new LambdaDeploymentGroup(scope, `${fn.name}Deployment`, {
      application,
      // The construct would attach a managed policy for every function of the account.
      role: role.withoutPolicyUpdates(),
      alias: fn.live as Alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [newVersionErrors, serverErrors],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // The deployment that brings the groups may use them at once: their role must have its permissions by then.
    group.node.addDependency(role);
  }
}

/** Errors that Lambda counts of the version behind the alias, and responses of the operation that say it was its fault. */
function errorsOfVersion(stage: string, operation: string, { lambda, live }: LambdaFunction): MathExpression {
  const { functionName, currentVersion } = lambda;
  const { version } = currentVersion;
  const crashes = new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Errors',
    dimensionsMap: {
      FunctionName: functionName,
      Resource: `${functionName}:${live.aliasName}`,
      ExecutedVersion: version,
    },
    statistic: Stats.SUM,
    period: MINUTE,
  });
  const faults = countedPerMinute(stage, metrics.internalErrors, { operation, version });
  return sumOf({ crashes, faults }, 'errors of the new version', MINUTE);
}

/** The permissions of AWSCodeDeployRoleForLambdaLimited without hooks and S3, for these functions alone. */
function deploymentRole(scope: Construct, functions: PetStoreFunctions): Role {
  const role = new Role(scope, 'DeploymentRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
  });
  role.addToPolicy(
    new PolicyStatement({
      actions: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
      resources: Object.values(functions).flatMap(({ lambda: { functionArn }, live }) => [
        functionArn,
        `${functionArn}:${live.aliasName}`,
      ]),
    }),
  );
  // CodeDeploy asks for alarms by name in one call, which AWS permits for all or none.
  role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'CodeDeploy reads alarms, and nothing else, across the account.',
  });
  return role;
}
