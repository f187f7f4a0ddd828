import { UsageError } from '../../command.ts';
import type { HeldAlias } from './assembly.ts';
import { type Aws, AwsError } from './aws-cli.ts';

/** An alias `live` of a deployed stack. */
export interface LiveAlias extends HeldAlias, AliasState {
  functionName: string;
}

/** Where an alias points. */
interface AliasState {
  /** Version that gets the requests, except for the share that `weights` gives to another version. */
  version: string;
  /** Shares of the requests that other versions get, by version, such as `{ '8': 0.1 }`. */
  weights: Record<string, number>;
  /** Id that changes with each update of the alias. */
  revisionId: string;
}

/** Versions to which an alias should point. */
interface Target {
  functionName: string;
  version: string;
  weights?: Record<string, number>;
}

/** Number of attempts to point aliases to their old versions. */
const ATTEMPTS = 5;

/** Returns where the aliases point. Aliases that the stack does not contain yet are omitted. */
export async function findLiveAliases(
  aws: Aws,
  aliases: HeldAlias[],
  physicalIds: Map<string, string>,
): Promise<LiveAlias[]> {
  const existing = aliases.filter(({ aliasId }) => physicalIds.has(aliasId));
  return await Promise.all(
    existing.map(async (alias) => {
      // An alias has an ARN such as arn:aws:lambda:eu-central-1:123456789012:function:NAME:live.
      const functionName = physicalIds.get(alias.aliasId)!.split(':')[6]!;
      return { ...alias, functionName, ...(await stateOf(aws, functionName)) };
    }),
  );
}

/** Returns where the alias `live` of a function points. @throws AwsError if AWS rejects the request */
export async function stateOf(aws: Aws, functionName: string): Promise<AliasState> {
  const found = await aws('lambda', 'get-alias', { FunctionName: functionName, Name: 'live' });
  const weights = found.RoutingConfig?.AdditionalVersionWeights ?? {};
  return { version: found.FunctionVersion, weights, revisionId: found.RevisionId };
}

/** Returns the error for an alias that somebody else moved during the deployment. */
export function movedByOthers(functionName: string): UsageError {
  return new UsageError(`Somebody else moved the alias live of ${functionName} during this deployment.`);
}

/** Returns whether an alias divides the requests between two versions. */
export function isDivided({ weights }: Pick<AliasState, 'weights'>): boolean {
  return Object.keys(weights).length > 0;
}

/**
 * Points aliases to versions at the same time.
 *
 * @param revisions ids of the aliases' revisions by function. AWS rejects the update of an alias that has another revision.
 * @returns the new revision ids by function
 * @throws UsageError if somebody else has moved an alias since its revision
 */
export async function point(
  aws: Aws,
  targets: Target[],
  revisions = new Map<string, string>(),
): Promise<Map<string, string>> {
  const updates = await Promise.all(
    targets.map(async ({ functionName, version, weights = {} }) => {
      const updated = await aws('lambda', 'update-alias', {
        FunctionName: functionName,
        Name: 'live',
        FunctionVersion: version,
        RoutingConfig: { AdditionalVersionWeights: weights },
        RevisionId: revisions.get(functionName),
      }).catch((error: AwsError) => {
        if (error.code !== 'PreconditionFailedException') throw error;
        throw movedByOthers(functionName);
      });
      return [functionName, updated.RevisionId as string] as const;
    }),
  );
  return new Map(updates);
}

/** A function whose alias moved from an old version to a new version. */
interface Moved {
  functionName: string;
  oldVersion: string;
  newVersion: string;
}

/**
 * Points aliases back to their old versions, and repeats this if AWS fails. An alias that gives requests to a version
 * other than the old and the new one is left alone, because somebody else has moved it.
 *
 * @param wait waits for some milliseconds
 */
export async function pointBack(
  aws: Aws,
  moved: Moved[],
  wait: (milliseconds: number) => Promise<void>,
): Promise<void> {
  await repeatUntilSuccess(wait, async () => {
    const revisions = new Map<string, string>();
    const back = await Promise.all(
      moved.map(async ({ functionName, oldVersion, newVersion }) => {
        const { version, weights, revisionId } = await stateOf(aws, functionName);
        revisions.set(functionName, revisionId);
        const isOwn = [version, ...Object.keys(weights)].every(
          (one) => one === oldVersion || one === newVersion,
        );
        return isOwn ? [{ functionName, version: oldVersion }] : [];
      }),
    );
    await point(aws, back.flat(), revisions);
  });
}

/**
 * Tries `work` up to `ATTEMPTS` times if AWS fails, because an outage that makes a deployment fail can also affect the
 * requests that point aliases to their old versions.
 */
export async function repeatUntilSuccess(
  wait: (milliseconds: number) => Promise<void>,
  work: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UsageError) || attempt === ATTEMPTS) throw error;
      await wait(attempt * 1_000);
    }
  }
}
