import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

// What the operator commands share: where a deployed stage is, and what its operator is told when something is amiss.

/** Something that the operator can mend; shown as one message, without a stack trace. */
export class UsageError extends Error {}

export interface DeployedStage {
  stage: string;
  baseAddress: string;
  apiKeysTable: string;
}

/**
 * Finds a stage by the outputs of its stack, with the AWS credentials and region of the environment.
 *
 * @throws UsageError for a stage that there is not, or whose stack is incomplete.
 */
export async function findDeployedStage(stage: string | undefined): Promise<DeployedStage> {
  if (stage !== 'staging' && stage !== 'production') {
    throw new UsageError('--stage must be staging or production.');
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

/** Runs a command: what its operator can mend becomes one message, anything else a stack trace. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const message = explain(error as CommandError);
    if (message === undefined) throw error;
    console.error(message);
    process.exit(1);
  }
}

type CommandError = Error & { code?: string; $metadata?: unknown };

/** What an error tells the operator; undefined for one that is a fault of the command. */
function explain(error: CommandError): string | undefined {
  if (error.message === 'Region is missing') return 'Set AWS_REGION to the region of the stage.';
  if (error.name === 'CredentialsProviderError') {
    return `Set your AWS credentials, AWS_PROFILE for example: ${error.message.replace(/\.$/, '')}.`;
  }
  const isForOperators =
    error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS') || error.$metadata;
  return isForOperators ? error.message : undefined;
}
