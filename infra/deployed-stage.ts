import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { UsageError } from './command.ts';

export interface DeployedStage {
  stage: string;
  baseAddress: string;
  apiKeysTable: string;
}

/**
 * Finds a stage by the outputs of its stack, with the AWS credentials and region of the environment.
 *
 * @param choices what the command takes as a stage, for its complaint.
 * @throws UsageError for a stage that there is not, or whose stack is incomplete.
 */
export async function findDeployedStage(stage: string | undefined, choices: string): Promise<DeployedStage> {
  if (stage !== 'staging' && stage !== 'production') {
    throw new UsageError(`--stage must be ${choices}.`);
  }
  const stackName = `PetStore-${stage}`;
  const outputs = await readOutputs(stackName);
  const baseAddress = outputs.get('BaseAddress');
  const apiKeysTable = outputs.get('ApiKeysTable');
  if (!baseAddress || !apiKeysTable) {
    throw new UsageError(`The stack ${stackName} lacks outputs: deploy it again.`);
  }
  return { stage, baseAddress, apiKeysTable };
}

async function readOutputs(stackName: string): Promise<Map<string | undefined, string | undefined>> {
  try {
    const { Stacks } = await new CloudFormationClient().send(
      new DescribeStacksCommand({ StackName: stackName }),
    );
    return new Map(Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (!(error as Error).message.endsWith('does not exist')) throw error;
    throw new UsageError(
      `There is no stack ${stackName} in this account and region: deploy it with npx cdk deploy ${stackName}.`,
    );
  }
}
