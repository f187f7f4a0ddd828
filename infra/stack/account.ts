import { type App, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';

/**
 * The role with which API Gateway writes the logs of all stages. An account has only one in each region.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
 */
export class AccountStack extends Stack {
  constructor(app: App, id: string) {
    super(app, id, {
      description: 'Pet store, resources that all stages in this account and region share',
      analyticsReporting: false,
      terminationProtection: true,
    });

    const role = new Role(this, 'LogRole', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com', {
        // AWS does not document whether API Gateway sends this condition key.
        conditions: { StringEqualsIfExists: { 'aws:SourceAccount': this.account } },
      }),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
      ],
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason: 'API Gateway requires a role that can write to every log group. This policy allows only that.',
    });
    const account = new CfnAccount(this, 'ApiGatewayAccount', { cloudWatchRoleArn: role.roleArn });
    for (const resource of [role, account]) resource.applyRemovalPolicy(RemovalPolicy.RETAIN);
  }
}
