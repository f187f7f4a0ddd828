import type { HeldAlias } from './assembly.ts';
import { type Aws, AwsError } from './aws-cli.ts';

/** An alias `live` of a deployed stack. */
export interface LiveAlias extends HeldAlias {
  functionName: string;
  /** Version that gets the requests, except for the share that `weights` gives to another version. */
  version: string;
  /** Share of the requests by version, such as `{ '8': 0.1 }`. */
  weights: Record<string, number>;
}

/** Where an alias points, or is to point. */
export interface Target {
  functionName: string;
  version: string;
  weights?: Record<string, number>;
}

/** Number of attempts to point the aliases back, because an outage of AWS can also affect the request to point back. */
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
      const found = await aws('lambda', 'get-alias', { FunctionName: functionName, Name: 'live' });
      const weights = found.RoutingConfig?.AdditionalVersionWeights ?? {};
      return { ...alias, functionName, version: found.FunctionVersion as string, weights };
    }),
  );
}

/** Points aliases to versions at the same time. */
export async function point(aws: Aws, targets: Target[]): Promise<void> {
  await Promise.all(
    targets.map(({ functionName, version, weights = {} }) =>
      aws('lambda', 'update-alias', {
        FunctionName: functionName,
        Name: 'live',
        FunctionVersion: version,
        RoutingConfig: { AdditionalVersionWeights: weights },
      }),
    ),
  );
}

/**
 * Points aliases back to versions, and repeats this if AWS fails.
 *
 * @param wait waits for some milliseconds
 */
export async function pointBack(
  aws: Aws,
  targets: Target[],
  wait: (milliseconds: number) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await point(aws, targets);
    } catch (error) {
      if (!(error instanceof AwsError) || attempt === ATTEMPTS) throw error;
      await wait(attempt * 1_000);
    }
  }
}
