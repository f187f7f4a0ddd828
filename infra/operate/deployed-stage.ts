import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackName } from '../../shared/names.ts';
import { isStageName } from '../settings.ts';
import { stages } from '../stages.ts';
import { UsageError } from '../command.ts';

/** Maximum error of the local clock. The local clock determines the expiry of a key, so it must be correct. */
const MAX_CLOCK_SKEW_SECONDS = 60;

/** Returns the ARN of the operator's IAM user or role session, after a check of the local clock. */
export async function findCaller(): Promise<string> {
  const client = new STSClient();
  const { Arn } = await client.send(new GetCallerIdentityCommand());
  // The SDK has calculated this offset from the time in AWS's response.
  const seconds = Math.round(Math.abs(client.config.systemClockOffset) / 1_000);
  if (seconds < MAX_CLOCK_SKEW_SECONDS) return Arn!;
  throw new UsageError(`The local clock is wrong by ${seconds} seconds. Correct the clock and try again.`);
}

/** @throws UsageError if the stage name is invalid, the stack does not exist, or an output is missing. */
export async function findDeployedStage(stage: string): Promise<{ baseUrl: string; apiKeysTable: string }> {
  if (!isStageName(stage))
    throw new UsageError('--stage must be a deployed stage, such as staging (1 to 30 lowercase letters).');
  const StackName = stackName(stage);
  const client = new CloudFormationClient();
  const { Stacks } = await client
    .send(new DescribeStacksCommand({ StackName }))
    .catch(async (error: Error) => {
      if (!error.message.endsWith('does not exist')) throw error;
      const region = await client.config.region();
      const context = Object.hasOwn(stages, stage) ? '' : ` -c stage=${stage} -c like=production`;
      throw new UsageError(
        `There is no stack ${StackName} in this account in ${region}. Check AWS_PROFILE and AWS_REGION, ` +
          `or deploy the stage with npx cdk deploy ${StackName}${context}.`,
      );
    });
  const [baseUrl, apiKeysTable] = ['BaseUrl', 'ApiKeysTable'].map(
    (name) => Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue,
  );
  if (baseUrl && apiKeysTable) return { baseUrl, apiKeysTable };
  throw new UsageError(`The stack ${StackName} has incomplete outputs. Deploy the stage again.`);
}
