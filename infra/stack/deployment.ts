import { Duration, Validations } from 'aws-cdk-lib';
import { type MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { metrics, serviceName } from '../../shared/names.ts';
import type { PetStoreFunctions } from './functions.ts';
import type { PetStoreFunction } from './lambda-function.ts';
import { type Monitoring, sumOf } from './monitoring.ts';

/**
 * Gives a new version of a function a tenth of its requests for five minutes, then all of them; back to none when
 * the version fails or the API answers with more 5xx than by chance.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-steps-lambda.html
 */
export function shiftTraffic(
  scope: Construct,
  { stage, functions, monitoring }: { stage: string; functions: PetStoreFunctions; monitoring: Monitoring },
): void {
  const application = new LambdaApplication(scope, 'Deployments');
  const role = deploymentRole(scope, functions);

  for (const [name, fn] of Object.entries(functions)) {
    const functionName = fn.node.id;
    const newVersionErrors = monitoring.addAlarm(`${functionName}NewVersionErrors`, {
      chapter: 'Errors of a new version',
      meaning: `The version of ${functionName} deployed last failed: it crashed, timed out, could not start or decide, or answered internal_error.`,
      metric: errorsOfVersion(fn, { service: serviceName(stage), operation: name }),
      threshold: 1,
    });
    const group = new LambdaDeploymentGroup(scope, `${functionName}Deployment`, {
      application,
      // The construct would attach a managed policy for every function of the account.
      role: role.withoutPolicyUpdates(),
      alias: fn.live as Alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [newVersionErrors, monitoring.serverErrors],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // The deployment that brings the groups may use them at once: their role must have its permissions by then.
    group.node.addDependency(role);
  }
}

/** What Lambda counts as errors of the version behind the alias, and what the operation answered as its own fault. */
function errorsOfVersion(
  { functionName, live, currentVersion: { version } }: PetStoreFunction,
  operation: { service: string; operation: string },
): MathExpression {
  const settings = { statistic: Stats.SUM, period: Duration.minutes(1) };
  return sumOf(
    {
      crashes: new Metric({
        ...settings,
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: {
          FunctionName: functionName,
          Resource: `${functionName}:${live.aliasName}`,
          ExecutedVersion: version,
        },
      }),
      faults: new Metric({
        ...settings,
        namespace: metrics.namespace,
        metricName: metrics.internalErrors.name,
        dimensionsMap: { ...operation, version },
      }),
    },
    'errors of the new version',
    settings.period,
  );
}

/** What AWSCodeDeployRoleForLambdaLimited permits, without hooks and revisions in S3, for these functions alone. */
function deploymentRole(scope: Construct, functions: PetStoreFunctions): Role {
  const role = new Role(scope, 'DeploymentRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
  });
  role.addToPolicy(
    new PolicyStatement({
      actions: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
      resources: Object.values(functions).flatMap(({ functionArn, live }) => [
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
