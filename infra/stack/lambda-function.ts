import { AssetHashType, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  Architecture,
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
import { type BuildOptions, buildSync } from 'esbuild';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EnvironmentVariable } from '../../shared/names.ts';
import type { StageSettings } from '../settings.ts';
import { createLogGroup } from './log-group.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** What the SDK imports at run time, if it needs it. */
const importedLater = new Set(['async_hooks', 'http', 'http2']);
const nodeModules = builtinModules.filter((name) => !importedLater.has(name));
const sdkParts = ['core/protocols', 'credential-provider-node', 'dynamodb-codec', 'endpoint-cache'];

const esbuildOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  // The CommonJS builds of the SDK are larger and need a `require` that an ES module does not have.
  mainFields: ['module', 'main'],
  alias: {
    ...aliases('node:', nodeModules, './shared/bundle/node.ts'),
    'node:https': './shared/bundle/https.ts',
    ...aliases('@aws-sdk/', sdkParts, './shared/bundle/sdk.ts'),
  },
  // DynamoDB has none. An import of it within the bundle, by an expression, would wrap most modules in functions.
  external: ['@smithy/core/event-streams'],
};

function aliases(prefix: string, names: string[], file: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [prefix + name, file]));
}

/** A Lambda function with its own bundle, role, log group and alias. */
export interface LambdaFunction {
  /** In the names of its resources: `ListPets`. */
  name: string;
  lambda: Function;
  /** What is called from outside: the version in use, or two of them while a deployment shifts traffic. */
  live: IAlias;
}

export interface LambdaFunctionProps {
  entry: string;
  description: string;
  /** Processor time comes with it: 1,769 MB are a whole core. */
  memoryMegabytes: number;
  environment: Partial<Record<EnvironmentVariable, string>>;
  /** All that the function may do beside writing its log and traces. */
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
    code: bundle(entry),
    handler: 'index.handler',
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
    // Rollbacks need earlier versions. One whose deployment failed must go: Lambda publishes no code twice in a row.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    role,
  });
  // For `npm start -- --watch`.
  const bundling = { name, entry, options: esbuildOptions };
  lambda.node.defaultChild!.node.addMetadata('pet-store:bundling', bundling);
  // The classes differ from their own interfaces under exactOptionalPropertyTypes.
  const version = lambda.currentVersion as IVersion;
  return { name, lambda, live: new Alias(lambda, 'Live', { aliasName: 'live', version }) as IAlias };
}

/** The bundle of a module. The CDK's NodejsFunction would start esbuild by npx, four times as slow. */
function bundle(entry: string): Code {
  return Code.fromAsset(projectRoot, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Nothing runs in it, because esbuild is a package of this project.
      image: Runtime.NODEJS_24_X.bundlingImage,
      // The CDK makes one bundle of those whose options are the same but for `local`.
      command: [entry],
      local: {
        tryBundle(folder) {
          const outfile = join(folder, 'index.mjs');
          buildSync({ ...esbuildOptions, absWorkingDir: projectRoot, entryPoints: [entry], outfile });
          return true;
        },
      },
    },
  });
}

/** A role in place of the default one, whose managed policy may write to every log group. */
function addRole(scope: Construct, name: string, { actions, resources }: LambdaFunctionProps): Role {
  const role = new Role(scope, `${name}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com', {
      // AWS does not document that Lambda sends the key.
      conditions: { StringEqualsIfExists: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  role.addToPolicy(new PolicyStatement({ actions, resources }));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray knows no resources: whoever may send traces may send them for anything.',
  });
  return role;
}
