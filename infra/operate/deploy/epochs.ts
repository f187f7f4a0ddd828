import type { ListEpoch } from '../../../shared/list-partitions.ts';
import { UsageError } from '../../command.ts';

/** Longest time in hours from the check to the end of a deployment with a canary, including its rollback. */
const DEPLOYMENT_HOURS = 2;

/**
 * Checks that a deployment or rollback changes only epochs that start after its end, because lists would otherwise omit
 * items. `deployed` and `planned` are lists of epochs as JSON, as in the output ListPartitions of a stack.
 *
 * @param place start of the error message
 * @throws UsageError if the lists differ in epochs that have started or start within two hours
 */
export function requireSameStartedEpochs(place: string, deployed: string, planned: string): void {
  const earliest = new Date(Date.now() + DEPLOYMENT_HOURS * 3_600_000);
  const [fixed, plannedFixed] = [deployed, planned].map((text) =>
    (JSON.parse(text) as ListEpoch[])
      .filter(({ since }) => new Date(since) < earliest)
      .map(({ since, count }) => `{ since: '${since}', count: ${count} }`)
      .join(', '),
  );
  if (fixed === plannedFixed) return;
  throw new UsageError(
    `${place}: The epochs of listPartitions that start before ${earliest.toISOString()} must be those of the deployed stage, ` +
      `[${fixed}], not [${plannedFixed}], because lists could otherwise omit items. A new epoch must start later.`,
  );
}
