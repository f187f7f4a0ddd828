import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackName } from '../../shared/names.ts';
import { UsageError } from './command.ts';

/** Of the clock of this machine, by which keys get their ends. */
const MOST_SECONDS_OF_SKEW = 60;

export interface DeployedStage {
  baseAddress: string;
  apiKeysTable: string;
}

/**
 * ARN of the IAM user or role, with its session, whose credentials are in the environment.
 *
 * @throws UsageError when the clock of this machine is wrong.
 */
export async function findCaller(): Promise<string> {
  const client = new STSClient();
  const { Arn } = await client.send(new GetCallerIdentityCommand());
  // The SDK measures it by the answers, and signs by AWS's time.
  const seconds = Math.round(Math.abs(client.config.systemClockOffset) / 1_000);
  if (seconds >= MOST_SECONDS_OF_SKEW) {
    throw new UsageError(`The clock of this machine is wrong by ${seconds} seconds: set it first.`);
  }
  return Arn!;
}

/**
 * Finds a stage by the outputs of its stack, with the AWS credentials and region of the environment.
 *
 * @throws UsageError when its stack is not there or incomplete.
 */
export async function findDeployedStage(stage: string): Promise<DeployedStage> {
  const stack = stackName(stage);
  const outputs = await readOutputs(stack);
  const baseAddress = outputs.get('BaseAddress');
  const apiKeysTable = outputs.get('ApiKeysTable');
  if (!baseAddress || !apiKeysTable) {
    throw new UsageError(`The stack ${stack} lacks outputs: deploy it again.`);
  }
  return { baseAddress, apiKeysTable };
}

async function readOutputs(stack: string): Promise<Map<string | undefined, string | undefined>> {
  const client = new CloudFormationClient();
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    return new Map(Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (!(error as Error).message.endsWith('does not exist')) throw error;
    const region = await client.config.region();
    throw new UsageError(
      `There is no stack ${stack} in this account and ${region}: look at AWS_PROFILE and AWS_REGION, or deploy it with npx cdk deploy ${stack}.`,
    );
  }
}
