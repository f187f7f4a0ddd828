import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackName } from '../../shared/names.ts';
import { isStageName } from '../settings.ts';
import { stages } from '../stages.ts';
import { UsageError } from './command.ts';

/** Keys expire by the clock of this machine. */
const MAX_CLOCK_SKEW_SECONDS = 60;

/** Returns the ARN of the IAM user or role session in use. @throws UsageError if the clock of this machine is wrong. */
export async function findCaller(): Promise<string> {
  const client = new STSClient();
  const { Arn } = await client.send(new GetCallerIdentityCommand());
  // The SDK measures it by the responses, and signs with AWS's time.
  const seconds = Math.round(Math.abs(client.config.systemClockOffset) / 1_000);
  if (seconds < MAX_CLOCK_SKEW_SECONDS) return Arn!;
  throw new UsageError(`The clock of this machine is wrong by ${seconds} seconds: set it first.`);
}

/** Returns the outputs of a stage's stack. @throws UsageError if the name, the stack or an output cannot be a stage's. */
export async function findDeployedStage(stage: string): Promise<{ baseUrl: string; apiKeysTable: string }> {
  if (!isStageName(stage))
    throw new UsageError(
      '--stage must be the name of a stage on AWS, such as staging: at most 30 lower-case letters.',
    );
  const StackName = stackName(stage);
  const client = new CloudFormationClient();
  const { Stacks } = await client
    .send(new DescribeStacksCommand({ StackName }))
    .catch(async (error: Error) => {
      if (!error.message.endsWith('does not exist')) throw error;
      const region = await client.config.region();
      const context = Object.hasOwn(stages, stage) ? '' : ` -c stage=${stage} -c like=production`;
      throw new UsageError(
        `There is no stack ${StackName} in this account and ${region}: check AWS_PROFILE and AWS_REGION, or deploy it with npx cdk deploy ${StackName}${context}.`,
      );
    });
  const [baseUrl, apiKeysTable] = ['BaseUrl', 'ApiKeysTable'].map(
    (name) => Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue,
  );
  if (baseUrl && apiKeysTable) return { baseUrl, apiKeysTable };
  throw new UsageError(`The stack ${StackName} lacks outputs: deploy it again.`);
}
