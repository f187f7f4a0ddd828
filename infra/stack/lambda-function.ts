import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  Architecture,
  type IAlias,
  type IVersion,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { fileURLToPath } from 'node:url';
import type { EnvironmentVariable } from '../../shared/names.ts';
import { createLogGroup } from './log-group.ts';
import type { StageSettings } from '../settings.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Where the cloud assembly tells what a function's bundle is made from: `npm start -- --watch` makes it anew. */
const BUNDLING_METADATA = 'pet-store:bundling';

/** In esbuild's names, which the CDK shares. */
const esbuildOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  minify: true,
  // The CommonJS builds of the SDK are larger and need a `require` that an ES module does not have.
  mainFields: ['module', 'main'],
};

/** Modules of this project that stand in the bundles for packages: `--watch` takes them from the project, the CDK from anywhere. */
const replacements = { '@aws-sdk/credential-provider-node': './shared/storage/lambda-credentials.ts' };

export interface PetStoreFunctionProps {
  /** Name of the module in `functions/`, without ending. */
  module: string;
  description: string;
  settings: StageSettings;
  memoryMegabytes: number;
  environment: Partial<Record<EnvironmentVariable, string>>;
  /** All that the function may do beside writing its log. */
  permission: PolicyStatement;
}

/** One Lambda function with its own bundle, role, log group and alias. */
export class PetStoreFunction extends NodejsFunction {
  /** What is called from outside: the version in use, or two of them while a deployment shifts traffic. */
  readonly live: IAlias;

  constructor(scope: Construct, id: string, props: PetStoreFunctionProps) {
    const { module, description, settings, memoryMegabytes, environment, permission } = props;
    const entry = `functions/${module}.ts`;
    const logGroup = createLogGroup(scope, `${id}Logs`, settings);
    // A role of its own instead of the default one, whose managed policy may write to every log group.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    role.addToPolicy(permission);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray knows no resources: whoever may send traces may send them for anything.',
    });

    super(scope, id, {
      description,
      entry: `${projectRoot}${entry}`,
      projectRoot,
      depsLockFilePath: `${projectRoot}package-lock.json`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMegabytes,
      timeout: Duration.seconds(settings.functionTimeoutSeconds),
      environment,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      // What fails is logged; the start and end of every call, which metrics tell of, would cost as much as the call.
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: Tracing.ACTIVE,
      // A version that is not in use any more is what one goes back to. One whose deployment failed goes away: Lambda
      // would refuse to publish the same code once more.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      role,
      awsSdkConnectionReuse: false, // the variable it sets is for SDK version 2
      bundling: {
        ...esbuildOptions,
        bundleAwsSDK: true,
        esbuildArgs: {
          '--alias': Object.entries(replacements).map(([name, file]) => `${name}=${projectRoot}${file}`),
        },
      },
    });
    // Beside these the CDK gives esbuild two of its own.
    const options = { bundle: true, platform: 'node', ...esbuildOptions, alias: replacements };
    this.node.defaultChild!.node.addMetadata(BUNDLING_METADATA, { name: id, entry, options });
    // The classes differ from their own interfaces under exactOptionalPropertyTypes.
    const version = this.currentVersion as IVersion;
    this.live = new Alias(this, 'Live', { aliasName: 'live', version }) as IAlias;
  }
}
