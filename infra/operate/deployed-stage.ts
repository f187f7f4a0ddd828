import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackName } from '../../shared/names.ts';
import { stages } from '../stages.ts';
import { deployedStageOption, requireRegion, UsageError } from '../command.ts';
import { httpsAgent } from '../proxy.ts';

/** Smallest error of the local clock that commands reject, because they calculate the expiry of keys from this clock. */
const MAX_CLOCK_SKEW_SECONDS = 60;

/** Returns the ARN of the operator's IAM user or role session. @throws UsageError if the local clock is wrong */
export async function findCaller(): Promise<string> {
  const client = new STSClient({ requestHandler: { httpsAgent } });
  const { Arn } = await client.send(new GetCallerIdentityCommand());
  // The SDK calculates this offset from the time in AWS's response.
  const seconds = Math.round(Math.abs(client.config.systemClockOffset) / 1_000);
  if (seconds < MAX_CLOCK_SKEW_SECONDS) return Arn!;
  throw new UsageError(`The local clock is wrong by ${seconds} seconds. Correct the clock and try again.`);
}

/**
 * Returns the base URL and the name of the API keys table of a deployed stage.
 *
 * @throws UsageError if `stage` is invalid, the stack or an output is missing, or two AWS identities are set
 */
export async function findDeployedStage(stage: string): Promise<{ baseUrl: string; apiKeysTable: string }> {
  deployedStageOption(stage, stages);
  requireOneIdentity();
  const outputs = await findOutputs(stage);
  const stack = stackName(stage);
  if (!outputs) {
    const region = await new CloudFormationClient().config.region();
    throw new UsageError(`Your AWS account has no stack ${stack} in ${region}. ${adviceFor(stage)}`);
  }
  const { BaseUrl: baseUrl, ApiKeysTable: apiKeysTable } = outputs;
  if (baseUrl && apiKeysTable) return { baseUrl, apiKeysTable };
  throw new UsageError(`The stack ${stack} lacks the output BaseUrl or ApiKeysTable. Deploy it again.`);
}

/**
 * Checks that the environment does not contain both a profile and an access key. With both, the AWS CLI and the CDK
 * would use the access key, but the SDK would use the profile, which can be of a different account.
 * https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
 */
function requireOneIdentity(): void {
  const { AWS_PROFILE, AWS_ACCESS_KEY_ID } = process.env;
  if (AWS_PROFILE && AWS_ACCESS_KEY_ID)
    throw new UsageError(
      'AWS_PROFILE and AWS_ACCESS_KEY_ID are both set. Unset one of them, so that all commands use the same account.',
    );
}

/** Returns the outputs of a stage's stack by name, or undefined if the stack does not exist. */
async function findOutputs(stage: string): Promise<Record<string, string> | undefined> {
  const client = new CloudFormationClient({ requestHandler: { httpsAgent } });
  requireRegion(await client.config.region());
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName(stage) }));
    const outputs = Stacks?.[0]?.Outputs ?? [];
    return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    if ((error as Error).message.endsWith('does not exist')) return undefined;
    throw error;
  }
}

/**
 * Returns advice for a stage without a stack. If infra/stages.ts does not contain the stage, the advice does not
 * mention a deployment, because the name of the stage is probably mistyped.
 */
function adviceFor(stage: string): string {
  const names = Object.keys(stages);
  if (names.includes(stage))
    return `Check AWS_PROFILE and AWS_REGION. If the stage is not deployed yet, run npx cdk deploy ${stackName(stage)}.`;
  const similar = names.find((name) => name.startsWith(stage.slice(0, 3)));
  return (
    `Did you mean ${similar ?? names.join(' or ')}? For a different stage, check AWS_PROFILE and AWS_REGION, ` +
    'or see "A stage of your own" in docs/operate.md.'
  );
}
