import { type App, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as iam from 'aws-cdk-lib/aws-iam';

/**
 * Creates the role that API Gateway uses to write the logs of all stages. An account has one such role in each region.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
 */
export class AccountStack extends Stack {
  constructor(app: App, id: string) {
    super(app, id, {
      description: 'Resources that all pet store stages in this account and region share',
      analyticsReporting: false,
      terminationProtection: true,
    });

    const role = new iam.Role(this, 'LogRole', {
      assumedBy: new iam.ServicePrincipal('apigateway.amazonaws.com', {
        // IfExists is needed because AWS does not document whether API Gateway sends this condition key.
        conditions: { StringEqualsIfExists: { 'aws:SourceAccount': this.account } },
      }),
      managedPolicies: [
        iam.ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
      ],
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason:
        'API Gateway requires a role that can write to all log groups. This policy allows nothing else.',
    });
    const account = new apigateway.CfnAccount(this, 'ApiGatewayAccount', { cloudWatchRoleArn: role.roleArn });
    for (const resource of [role, account]) resource.applyRemovalPolicy(RemovalPolicy.RETAIN);
  }
}
