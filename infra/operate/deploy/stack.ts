import { UsageError } from '../../command.ts';
import type { Template } from './assembly.ts';
import { type Aws, AwsError } from './aws-cli.ts';

/** A deployed stack. */
export interface DeployedStack {
  name: string;
  /** CloudFormation's status, such as `UPDATE_COMPLETE`. */
  status: string;
  /** Time of the last update, or of the creation if there was no update. */
  updatedAt: string;
  parameters: Record<string, string>;
  outputs: Record<string, string>;
}

/** Returns the stack, or undefined if it does not exist, or if its first change set was never executed. */
export async function findStack(aws: Aws, name: string): Promise<DeployedStack | undefined> {
  const response = await aws('cloudformation', 'describe-stacks', { StackName: name }).catch(
    (error: AwsError) => {
      if (error.message.includes('does not exist')) return undefined;
      throw error;
    },
  );
  if (!response) return undefined;
  const [
    { StackStatus: status, CreationTime, LastUpdatedTime = CreationTime, Parameters = [], Outputs = [] },
  ] = response.Stacks;
  if (status === 'REVIEW_IN_PROGRESS') return undefined;
  return {
    name,
    status,
    updatedAt: LastUpdatedTime,
    parameters: Object.fromEntries(Parameters.map((one: any) => [one.ParameterKey, one.ParameterValue])),
    outputs: Object.fromEntries(Outputs.map((one: any) => [one.OutputKey, one.OutputValue])),
  };
}

/** Returns the physical ids of a stack's resources by logical id. */
export async function physicalIdsOf(aws: Aws, stack: string): Promise<Map<string, string>> {
  const { StackResourceSummaries } = await aws('cloudformation', 'list-stack-resources', {
    StackName: stack,
  });
  return new Map(StackResourceSummaries.map((one: any) => [one.LogicalResourceId, one.PhysicalResourceId]));
}

/** Returns what to do if a stack has a status in which CloudFormation does not update it. */
export function adviceFor(status: string): string {
  const section = status.startsWith('UPDATE') ? 'Rollback by hand' : 'First deploy';
  return `Follow "${section}" in docs/runbook.md.`;
}

/** Checks the status of a stack. @throws UsageError if CloudFormation cannot update the stack */
export function requireUpdatable({ name, status }: DeployedStack): void {
  if (status.endsWith('_IN_PROGRESS'))
    throw new UsageError(
      `${name} has the status ${status}. Wait until this operation has ended, and deploy again.`,
    );
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$|^(UPDATE|IMPORT)_ROLLBACK_COMPLETE$/.test(status)) return;
  throw new UsageError(`${name} has the status ${status}. ${adviceFor(status)}`);
}

/**
 * Checks that nobody has changed the stack's resources by hand, because a deployment would keep such changes. Aliases are
 * ignored, because a rollback by hand changes them, and each deployment reads where they point.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-drift.html
 *
 * @throws UsageError if a resource was changed or deleted, a function has reserved concurrency, the web ACL is
 *   disconnected, or CloudFormation cannot compare all resources
 */
export async function requireNoChangesByHand(
  aws: Aws,
  stack: string,
  template: Template,
  wait: (milliseconds: number) => Promise<void>,
): Promise<void> {
  const changes = [
    ...(await driftOf(aws, stack, wait)),
    ...(await changesWithoutDrift(aws, await physicalIdsOf(aws, stack), template)),
  ];
  if (changes.length === 0) return;
  throw new UsageError(
    `Somebody changed ${stack} by hand:\n${changes.map((change) => `- ${change}\n`).join('')}` +
      'Follow "Undo changes by hand" in docs/runbook.md, or append --ignore-changes to keep these changes.',
  );
}

/**
 * Returns a line for each resource that somebody changed or deleted by hand.
 *
 * @param wait waits for some milliseconds
 */
async function driftOf(
  aws: Aws,
  stack: string,
  wait: (milliseconds: number) => Promise<void>,
): Promise<string[]> {
  const { StackDriftDetectionId } = await aws('cloudformation', 'detect-stack-drift', { StackName: stack });
  const detection = () =>
    aws('cloudformation', 'describe-stack-drift-detection-status', { StackDriftDetectionId });
  let result = await detection();
  while (result.DetectionStatus === 'DETECTION_IN_PROGRESS') {
    await wait(5_000);
    result = await detection();
  }
  if (result.DetectionStatus !== 'DETECTION_COMPLETE')
    throw new UsageError(
      `CloudFormation could not compare all resources of ${stack} with the template. Grant missing permissions, or append ` +
        `--ignore-changes. Reason: ${result.DetectionStatusReason}`,
    );
  const { StackResourceDrifts } = await aws('cloudformation', 'describe-stack-resource-drifts', {
    StackName: stack,
    StackResourceDriftStatusFilters: ['MODIFIED', 'DELETED'],
  });
  return StackResourceDrifts.filter(({ ResourceType }: any) => ResourceType !== 'AWS::Lambda::Alias').map(
    ({ LogicalResourceId, StackResourceDriftStatus, PropertyDifferences = [] }: any) => {
      const properties = PropertyDifferences.map(({ PropertyPath }: any) => PropertyPath).join(', ');
      return `${LogicalResourceId}: ${StackResourceDriftStatus} ${properties}`.trim();
    },
  );
}

/** Returns changes of properties that the template does not contain. CloudFormation does not detect such changes. */
async function changesWithoutDrift(
  aws: Aws,
  physicalIds: Map<string, string>,
  { Resources }: Template,
): Promise<string[]> {
  const idsOf = (type: string) =>
    Object.entries(Resources).flatMap(([id, { Type }]) => (Type === type ? (physicalIds.get(id) ?? []) : []));
  const changes: string[] = [];
  for (const FunctionName of idsOf('AWS::Lambda::Function')) {
    const { ReservedConcurrentExecutions } = await aws('lambda', 'get-function-concurrency', {
      FunctionName,
    });
    if (ReservedConcurrentExecutions !== undefined)
      changes.push(`${FunctionName}: reserved concurrency ${ReservedConcurrentExecutions}`);
  }
  if (idsOf('AWS::WAFv2::WebACLAssociation').length > 0) {
    const [restApiId] = idsOf('AWS::ApiGateway::RestApi');
    const [stageName] = idsOf('AWS::ApiGateway::Stage');
    const { webAclArn } = await aws('apigateway', 'get-stage', { restApiId, stageName });
    if (!webAclArn) changes.push('The web ACL is disconnected from the API');
  }
  return changes;
}
