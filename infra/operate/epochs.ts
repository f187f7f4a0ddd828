import type { ListEpoch } from '../../shared/list-partitions.ts';
import { stackName } from '../../shared/names.ts';
import { type OptionValues, runWithOptions, UsageError } from '../command.ts';
import type { StageSettings } from '../settings.ts';
import { stages } from '../stages.ts';
import { findOutputs } from './deployed-stage.ts';

/** Longest time in hours from this check to the end of a deployment with a canary, including its rollback. */
const DEPLOYMENT_HOURS = 2;

const USAGE = `npm run epochs -- --stage STAGE

Checks that the epochs of listPartitions in infra/stages.ts can be deployed: they must contain all deployed epochs that
have started, and a new epoch must start at least ${DEPLOYMENT_HOURS} hours from now. Otherwise, lists could omit items.

  --stage      stage in infra/stages.ts (requires AWS credentials, and the stage's region in AWS_REGION)`;

const options = { stage: { type: 'string' } } as const;

async function checkEpochs({ stage = '' }: OptionValues<typeof options>): Promise<void> {
  const all: Record<string, StageSettings> = stages;
  if (!Object.hasOwn(all, stage)) throw new UsageError(`--stage must be ${Object.keys(all).join(' or ')}.`);
  const planned = all[stage]!.listPartitions;
  const outputs = await findOutputs(stage);
  const deployed = outputs?.['ListPartitions'];
  const earliest = new Date(Date.now() + DEPLOYMENT_HOURS * 3_600_000);
  if (deployed !== undefined) requireSameStart(stage, JSON.parse(deployed) as ListEpoch[], planned, earliest);
  else if (outputs) requireFirstEpoch(stage, planned, earliest);
  else
    console.log(`There is no stack ${stackName(stage)} in ${process.env['AWS_REGION']} of this AWS account.`);
  console.log(`The epochs of listPartitions in infra/stages.ts can be deployed to ${stage}.`);
}

/** @throws UsageError if a version without epochs is deployed, and the stage has more than a first epoch */
function requireFirstEpoch(stage: string, planned: readonly ListEpoch[], earliest: Date): void {
  const [first, second] = planned;
  if (second && new Date(second.since) < earliest)
    throw new UsageError(
      `infra/stages.ts, stage ${stage}: The deployed version has one number of list partitions, so listPartitions must have ` +
        `only one epoch before ${earliest.toISOString()}.`,
    );
  console.log(
    `The deployed version has one number of list partitions. If its setting listPartitions is not ${first!.count}, stop, and ` +
      'set the count of the first epoch to this number.',
  );
}

/** @throws UsageError if two lists of epochs differ in epochs that start before `earliest` */
function requireSameStart(
  stage: string,
  deployed: ListEpoch[],
  planned: readonly ListEpoch[],
  earliest: Date,
): void {
  const fixed = (epochs: readonly ListEpoch[]) =>
    epochs
      .filter(({ since }) => new Date(since) < earliest)
      .map(({ since, count }) => `{ since: '${since}', count: ${count} }`)
      .join(', ');
  if (fixed(deployed) === fixed(planned)) return;
  throw new UsageError(
    `infra/stages.ts, stage ${stage}: The epochs of listPartitions that start before ${earliest.toISOString()} must be ` +
      `those of the deployed stage, [${fixed(deployed)}], not [${fixed(planned)}], because lists could otherwise omit items. ` +
      'A new epoch must start later.',
  );
}

await runWithOptions(USAGE, options, checkEpochs);
