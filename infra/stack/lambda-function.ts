import { AssetHashType, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  Architecture,
  type CfnFunction,
  Code,
  Function,
  type IAlias,
  type IVersion,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { EnvironmentVariable } from '../../shared/names.ts';
import type { StageSettings } from '../settings.ts';
import { bundle, projectRoot } from './bundling.ts';
import { createLogGroup } from './log-group.ts';

export interface LambdaFunction {
  /** Prefix of the function's logical ids, such as `ListPets`. */
  name: string;
  lambda: Function;
  /** Alias of the deployed version. During a canary, the alias splits the traffic between two versions. */
  live: IAlias;
}

export interface LambdaFunctionProps {
  entry: string;
  description: string;
  /** Lambda allocates CPU in proportion to memory. One vCPU corresponds to 1,769 MB. */
  memoryMegabytes: number;
  environment: Partial<Record<EnvironmentVariable, string>>;
  /** IAM actions that the function needs in addition to writing logs and traces. */
  actions: string[];
  resources: string[];
}

export function addLambdaFunction(
  scope: Construct,
  name: string,
  settings: StageSettings,
  props: LambdaFunctionProps,
): LambdaFunction {
  const { entry, description, memoryMegabytes, environment } = props;
  const logGroup = createLogGroup(scope, `${name}Logs`, settings);
  const role = addRole(scope, name, props);
  logGroup.grantWrite(role);

  const lambda = new Function(scope, name, {
    description,
    code: bundledCode(entry),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: memoryMegabytes,
    timeout: Duration.seconds(settings.functionTimeoutSeconds),
    environment,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    // This level omits log entries for the start and end of an invocation, which cost as much as the invocation.
    systemLogLevelV2: SystemLogLevel.WARN,
    tracing: Tracing.ACTIVE,
    // Retains earlier versions for rollbacks. The version of a failed deployment is deleted, because Lambda would
    // otherwise not publish the same code again.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    role,
  });
  // `npm start -- --watch` reads this metadata.
  (lambda.node.defaultChild as CfnFunction).addMetadata('entry', entry);
  // The casts are needed because, under exactOptionalPropertyTypes, CDK classes do not match their interfaces.
  const version = lambda.currentVersion as IVersion;
  return { name, lambda, live: new Alias(lambda, 'Live', { aliasName: 'live', version }) as IAlias };
}

/** The CDK's NodejsFunction takes four times as long because it runs npx. */
function bundledCode(entry: string): Code {
  return Code.fromAsset(projectRoot, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // The type requires an image, but the image is unused because `tryBundle` always succeeds.
      image: Runtime.NODEJS_24_X.bundlingImage,
      // Makes the options unique. The CDK does not compare `local` and would reuse the first function's bundle.
      command: [entry],
      local: {
        tryBundle(folder) {
          bundle(entry, folder);
          return true;
        },
      },
    },
  });
}

/** Creates a role without the default role's managed policy, which allows writing to every log group. */
function addRole(scope: Construct, name: string, { actions, resources }: LambdaFunctionProps): Role {
  const role = new Role(scope, `${name}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com', {
      // IfExists is needed because AWS does not document whether Lambda sends this condition key.
      conditions: { StringEqualsIfExists: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  role.addToPolicy(new PolicyStatement({ actions, resources }));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray does not support permissions for single resources.',
  });
  return role;
}
