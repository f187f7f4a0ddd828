import { liveVersionParameter, RELEASED_PARAMETER, stackName } from '../../../shared/names.ts';
import { UsageError } from '../../command.ts';
import { findLiveAliases, type LiveAlias, point, pointBack } from './aliases.ts';
import { type HeldAlias, heldAliasesOf, type Template } from './assembly.ts';
import type { Aws } from './aws-cli.ts';
import { type Shift, shiftRequests } from './canary.ts';
import { requireSameStartedEpochs } from './epochs.ts';
import {
  type DeployedStack,
  findStack,
  physicalIdsOf,
  requireNoChangesByHand,
  requireUpdatable,
} from './stack.ts';

/** Longest time in minutes for which the probe runs during a deployment. */
const PROBE_MINUTES = 55;

/** Alarm that CloudFormation watches during a stack update. */
const ROLLBACK_ALARM = 'ReleaseServerErrors';

/** Time in minutes for which CloudFormation can still roll back a stack update that has made all changes. */
const MONITORING_MINUTES = 5;

export interface Tools {
  aws: Aws;
  /**
   * Creates or updates a stack, and returns when this has ended.
   *
   * @param options additional options of `cdk deploy`
   * @throws UsageError if the update failed
   */
  deployStack: (stack: string, options: string[]) => Promise<void>;
  /**
   * Checks the stage once, or once a second for a number of minutes.
   *
   * @throws UsageError if the stage fails a check, or the reason of `signal` if it is aborted
   */
  probe: (baseUrl: string, minutes: number, signal: AbortSignal) => Promise<void>;
  wait: (milliseconds: number) => Promise<void>;
  print: (line: string) => void;
  /** Signal that an operator wants to stop the deployment. */
  interruption: AbortSignal;
}

interface Options {
  /** Whether all requests go to the new versions at once, without probe and comparison. */
  isAllAtOnce?: boolean;
  /** Whether changes that somebody made by hand are kept. */
  isKeepingChanges?: boolean;
}

/**
 * Deploys a stage. If the stage has canary deployments, the stack is updated while clients still use the old versions of
 * the functions. Then the requests of all functions shift together to the new versions. If a new version is worse, all
 * aliases point back at once, and the other changes of the stack stay.
 *
 * The stack's parameters record the old versions before anything changes. If this process ends at any point, clients use
 * the old versions, the new versions or both, and the next deployment starts with the old versions again.
 *
 * @throws UsageError that says what clients use now
 */
export async function deploy(
  stage: string,
  template: Template,
  options: Options,
  tools: Tools,
): Promise<void> {
  const { aws, print } = tools;
  const name = stackName(stage);
  const stack = await findStack(aws, name);
  if (!stack) {
    print(`There is no stack ${name} yet, so there is no canary.`);
    await deployAccount(tools);
    return await tools.deployStack(name, []);
  }
  requireUpdatable(stack);
  requireEpochs(stage, stack, template);
  if (!options.isKeepingChanges) await requireNoChangesByHand(aws, name, template, tools.wait);

  const held = heldAliasesOf(template);
  if (held.length === 0) {
    await deployAccount(tools);
    return await tools.deployStack(name, []);
  }
  const old = await restoreOldVersions(stack, held, tools);
  if (options.isAllAtOnce) {
    await deployAccount(tools);
    // `none` removes alarms of earlier deployments, which CloudFormation would keep.
    return await tools.deployStack(name, [...parameters(old, true), '--rollback-trigger-alarm-arns', 'none']);
  }
  await release(stage, stack, held, old, tools);
}

async function release(
  stage: string,
  { name, outputs }: DeployedStack,
  held: HeldAlias[],
  old: LiveAlias[],
  tools: Tools,
): Promise<void> {
  const { aws, print } = tools;
  const baseUrl = outputs['BaseUrl']!;
  await tools.probe(baseUrl, 0, tools.interruption).catch((error: Error) => {
    throw new UsageError(
      `${error.message}\nNothing was deployed, because the stage failed the probe before.`,
    );
  });
  await deployAccount(tools);

  const probe = startProbe(baseUrl, tools);
  try {
    await updateStack(name, old, probe.failure, tools);
    const shifts = await findShifts(name, held, old, aws);
    if (shifts.length === 0) print('No function has a new version.');
    else await shift(stage, shifts, probe.failure, tools);
  } finally {
    await probe.stop();
  }
  // The aliases point to the new versions already, so this update only makes the stack agree with them.
  await tools
    .deployStack(name, [...parameters(old, true), '--rollback-trigger-alarm-arns', 'none'])
    .catch((error: Error) => {
      throw new UsageError(
        `${error.message}\nAll requests go to the new versions, but the stack does not say so. Deploy again.`,
      );
    });
  print(
    `${name} was deployed. To go back to the old versions, run npm run deploy -- --stage ${stage} --back.`,
  );
}

/** Shifts the requests to the new versions. If this fails, points the aliases back. */
async function shift(stage: string, shifts: Shift[], failure: Promise<never>, tools: Tools): Promise<void> {
  const { aws, wait, print } = tools;
  // Waiting ends when the probe fails, so that the aliases point back within seconds.
  const untilFailure = (milliseconds: number) => Promise.race([wait(milliseconds), failure]);
  try {
    await shiftRequests(stage, shifts, { aws, print, wait: untilFailure });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const back = shifts.map(({ functionName, oldVersion }) => ({ functionName, version: oldVersion }));
    await pointBack(aws, back, wait).catch((problem: Error) => {
      throw new UsageError(
        `${error.message}\n${problem.message}\nAliases may still point to the new versions. Follow "Rollback by hand" in docs/runbook.md.`,
      );
    });
    throw new UsageError(
      `${error.message}\nAll requests go to the old versions again. Other changes of the stack stay.`,
    );
  }
}

/** Updates the stack while the aliases stay at the old versions. Cancels the update if the probe fails. */
async function updateStack(
  name: string,
  old: LiveAlias[],
  failure: Promise<never>,
  tools: Tools,
): Promise<void> {
  const { aws, print } = tools;
  const options = [...parameters(old, false), ...(await rollbackOptions(name, tools))];
  print('The stack is updated. Clients still use the old versions.');
  const update = { hasEnded: false };
  const updating = tools.deployStack(name, options).finally(() => {
    update.hasEnded = true;
  });
  try {
    await Promise.race([updating, failure]);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    if (update.hasEnded)
      throw new UsageError(`${error.message}\nClients use the old versions. ${await resultOf(name, aws)}`);
    print(`${error.message}\nThe update is canceled …`);
    // CloudFormation rejects a cancellation before the update has started.
    while (!update.hasEnded) {
      await aws('cloudformation', 'cancel-update-stack', { StackName: name }).catch(() => {});
      await Promise.race([tools.wait(5_000), updating.catch(() => {})]);
    }
    throw new UsageError(`${error.message}\nClients use the old versions. ${await resultOf(name, aws)}`);
  }
}

/** Returns a sentence about the stack after a failed update. */
async function resultOf(name: string, aws: Aws): Promise<string> {
  const status = (await findStack(aws, name))?.status ?? 'unknown';
  if (status === 'UPDATE_ROLLBACK_COMPLETE') return 'CloudFormation undid all changes of the stack.';
  if (status === 'UPDATE_COMPLETE') return 'The other changes of the stack stay.';
  return `${name} has the status ${status}. Follow "Rollback by hand" in docs/runbook.md.`;
}

/** Returns options that make CloudFormation watch an alarm, unless the alarm is active already. */
async function rollbackOptions(name: string, { aws, print }: Tools): Promise<string[]> {
  const { MetricAlarms } = await aws('cloudwatch', 'describe-alarms', {
    AlarmNamePrefix: `${name}-Monitoring${ROLLBACK_ALARM}`,
  });
  const [{ AlarmArn = 'none', StateValue = '' } = {}] = MetricAlarms;
  // An active alarm would stop the deployment that ends it.
  if (StateValue === 'ALARM')
    print(`CloudFormation does not watch ${ROLLBACK_ALARM}, because this alarm is active.`);
  const arn = StateValue === 'ALARM' ? 'none' : AlarmArn;
  return ['--rollback-trigger-alarm-arns', arn, '--monitoring-time-minutes', MONITORING_MINUTES.toString()];
}

/** Returns the functions with a version that `live` does not point to. */
async function findShifts(name: string, held: HeldAlias[], old: LiveAlias[], aws: Aws): Promise<Shift[]> {
  const physicalIds = await physicalIdsOf(aws, name);
  return old.flatMap(({ parameter, aliasId, functionName, version: oldVersion }) => {
    const { versionId } = held.find((alias) => alias.aliasId === aliasId)!;
    const newVersion = physicalIds.get(versionId)!.split(':').at(-1)!;
    const operation = operationOf(parameter);
    return newVersion === oldVersion ? [] : [{ operation, functionName, oldVersion, newVersion }];
  });
}

function operationOf(parameter: string): string {
  const name = parameter.slice(0, -liveVersionParameter('').length);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/**
 * Points the aliases to their old versions if an earlier deployment did not finish.
 *
 * @returns the aliases with the old versions
 */
async function restoreOldVersions(
  stack: DeployedStack,
  held: HeldAlias[],
  tools: Tools,
): Promise<LiveAlias[]> {
  const { aws, print } = tools;
  const live = await findLiveAliases(aws, held, await physicalIdsOf(aws, stack.name));
  const isUnfinished = stack.parameters[RELEASED_PARAMETER] === 'false';
  const old = live.map((alias) => {
    const recorded = isUnfinished && stack.parameters[alias.parameter];
    return { ...alias, version: recorded || alias.version, weights: {} };
  });
  const moved = old.filter(({ version }, index) => {
    const alias = live[index]!;
    return alias.version !== version || Object.keys(alias.weights).length > 0;
  });
  if (moved.length > 0) {
    print('An earlier deployment did not finish. All requests go to the old versions again.');
    await point(aws, moved);
  }
  return old;
}

/** Points all aliases to the versions before the last deployment. @throws UsageError if lists would omit items */
export async function goBack(stage: string, { aws, print, wait }: Tools): Promise<void> {
  const name = stackName(stage);
  const stack = await findStack(aws, name);
  if (!stack) throw new UsageError(`There is no stack ${name}. Check AWS_PROFILE and AWS_REGION.`);
  const { TemplateBody } = await aws('cloudformation', 'get-template', { StackName: name });
  const physicalIds = await physicalIdsOf(aws, name);
  const held = heldAliasesOf(TemplateBody as Template);
  const live = await findLiveAliases(aws, held, physicalIds);
  const old = live.flatMap(({ functionName, parameter }) => {
    const version = stack.parameters[parameter];
    return version ? [{ functionName, version }] : [];
  });
  if (old.length === 0) throw new UsageError(`${name} records no older versions. Deploy an older commit.`);
  const epochs = (FunctionName: string, Qualifier: string) => epochsOf(aws, FunctionName, Qualifier);
  for (const { functionName, version } of old) {
    const [recorded, present] = await Promise.all([
      epochs(functionName, version),
      epochs(functionName, 'live'),
    ]);
    requireSameStartedEpochs(`${functionName}, version ${version}`, present, recorded);
  }
  await pointBack(aws, old, wait);
  for (const { functionName, version } of old) print(`${functionName}: live points to version ${version}.`);
}

/** Returns the epochs that a version of a function knows, as JSON. Versions without epochs know a number instead. */
async function epochsOf(aws: Aws, FunctionName: string, Qualifier: string): Promise<string> {
  const { Environment } = await aws('lambda', 'get-function-configuration', { FunctionName, Qualifier });
  const epochs = Environment?.Variables?.LIST_PARTITIONS ?? '[]';
  return epochs.startsWith('[')
    ? epochs
    : JSON.stringify([{ since: '2025-01-01T00:00:00Z', count: Number(epochs) }]);
}

function requireEpochs(stage: string, { outputs }: DeployedStack, template: Template): void {
  const planned = template.Outputs['ListPartitions']!.Value as string;
  // A version without epochs has one number of list partitions, which must be that of the first epoch.
  const deployed = outputs['ListPartitions'] ?? JSON.stringify([JSON.parse(planned)[0]]);
  requireSameStartedEpochs(`infra/stages.ts, stage ${stage}`, deployed, planned);
}

/** Options of `cdk deploy` that record the old versions, and say whether the aliases stay at these versions. */
function parameters(old: LiveAlias[], isReleased: boolean): string[] {
  const values = [
    `${RELEASED_PARAMETER}=${isReleased}`,
    ...old.map(({ parameter, version }) => `${parameter}=${version}`),
  ];
  return values.flatMap((value) => ['--parameters', value]);
}

/** All stages in the account and region share this stack. */
async function deployAccount(tools: Tools): Promise<void> {
  await tools.deployStack(stackName('account'), []);
}

/** Probes the stage until `stop` is called. `failure` rejects if the probe fails or an operator interrupts the deployment. */
function startProbe(baseUrl: string, { probe, interruption }: Tools) {
  const end = new AbortController();
  const probing = probe(baseUrl, PROBE_MINUTES, AbortSignal.any([interruption, end.signal])).then(() => {
    throw new UsageError(`The deployment took longer than ${PROBE_MINUTES} minutes.`);
  });
  const failure = new Promise<never>((_resolve, reject) => {
    interruption.addEventListener('abort', () => reject(interruption.reason as Error));
    probing.catch((error: Error) => !end.signal.aborted && reject(error));
  });
  failure.catch(() => {}); // between steps, nothing awaits the promise
  const stop = async () => {
    end.abort(new UsageError('The probe has ended.'));
    await probing.catch(() => {});
  };
  return { failure, stop };
}
