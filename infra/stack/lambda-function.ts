import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { dirname, parse } from 'node:path';
import { environmentVariables, serviceName } from '../../shared/names.ts';
import { acknowledge, principalOf } from './roles.ts';
import { addLogGroup, type StageStack } from './stage-stack.ts';

/** A new runtime arrives with a release, and thus with the canary, instead of at a time that AWS chooses. */
const runtimeUpdates = lambda.RuntimeManagementMode.FUNCTION_UPDATE;

export interface LambdaFunctionProps extends lambda.FunctionOptions {
  /** Path of the bundle, which must be the only file in its folder, because the whole folder is deployed. */
  bundle: string;
  /** IAM actions that the function needs in addition to writing logs and traces. */
  actions: string[];
  resources: string[];
}

/** A Lambda function with its role, log group and alias. Earlier versions are retained for rollbacks. */
export class LambdaFunction extends lambda.Function {
  /** Alias of the deployed version. During a canary, the alias splits the traffic between two versions. */
  readonly live: lambda.IAlias;

  constructor(stack: StageStack, id: string, props: LambdaFunctionProps) {
    const { stage } = stack;
    const { bundle, actions, resources, environment, ...others } = props;
    const logGroup = addLogGroup(stack, `${id}Logs`, stage);
    // The function has a role of its own, because the CDK's default role could write to every log group.
    const role = new iam.Role(stack, `${id}Role`, { assumedBy: principalOf('lambda') });
    role.addToPolicy(new iam.PolicyStatement({ actions, resources }));
    logGroup.grantWrite(role);
    if (stage.tracing)
      acknowledge(role, 'IAM5[Resource::*]', 'X-Ray does not support permissions for single resources.');

    super(stack, id, {
      code: lambda.Code.fromAsset(dirname(bundle)),
      handler: `${parse(bundle).name}.handler`,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // Lambda allocates CPU in proportion to memory, so less memory would cost more (docs/performance.md, "Memory size").
      memorySize: 512,
      ...others,
      environment: { ...environment, [environmentVariables.service]: serviceName(stage.name) },
      timeout: Duration.seconds(stage.functionTimeoutSeconds),
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // At this level, Lambda also logs the start and the report of each invocation, with its duration, init time and memory.
      systemLogLevelV2: lambda.SystemLogLevel.INFO,
      tracing: stage.tracing ? lambda.Tracing.ACTIVE : lambda.Tracing.DISABLED,
      runtimeManagementMode: runtimeUpdates,
      // The version of a failed deployment is deleted, because Lambda would otherwise not publish the same code again.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      role,
    });
    // The mode above is that of $LATEST, and each version has its own.
    // https://docs.aws.amazon.com/lambda/latest/dg/runtimes-update.html
    const cfnVersion = this.currentVersion.node.defaultChild as lambda.CfnVersion;
    cfnVersion.runtimePolicy = runtimeUpdates.runtimeManagementConfig;
    // The casts are needed because, under exactOptionalPropertyTypes, CDK classes do not match their interfaces.
    const version = this.currentVersion as lambda.IVersion;
    this.live = new lambda.Alias(this, 'Live', { aliasName: 'live', version }) as lambda.IAlias;
  }
}
