import { once } from 'node:events';
import { ID_START } from '../../../shared/list-partitions.ts';
import {
  environmentVariables,
  liveVersionParameter,
  RELEASED_PARAMETER,
  stackName,
} from '../../../shared/names.ts';
import { UsageError } from '../../command.ts';
import {
  findLiveAliases,
  isDivided,
  type LiveAlias,
  point,
  pointBack,
  repeatUntilSuccess,
  stateOf,
} from './aliases.ts';
import { type HeldAlias, heldAliasesOf, rolesOf, type Template } from './assembly.ts';
import type { Aws, AwsError } from './aws-cli.ts';
import { type Shift, shiftRequests } from './canary.ts';
import { requireSameStartedEpochs } from './epochs.ts';
import {
  adviceFor,
  type DeployedStack,
  findStack,
  physicalIdsOf,
  requireNoChangesByHand,
  requireUpdatable,
} from './stack.ts';

/** Alarm that stops a deployment: 5xx responses that active API keys get. */
const ROLLBACK_ALARM = 'ReleaseServerErrors';

/** Time in minutes for which CloudFormation can still roll back a stack update that has made all changes. */
const MONITORING_MINUTES = 5;

/** Access to AWS, the stage and the operator. Tests replace it. */
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
   * Checks the stage once, or once a second for a number of minutes, which can be infinite.
   *
   * @throws UsageError if the stage fails a check, or the reason of `signal` if it is aborted
   */
  probe: (baseUrl: string, minutes: number, signal: AbortSignal) => Promise<void>;
  wait: (milliseconds: number) => Promise<void>;
  print: (line: string) => void;
  /** Whether the probe has an API key. */
  hasApiKey: boolean;
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
 * Deploys a stage. If the stage has canary deployments, a deployment without `isAllAtOnce` updates the stack while
 * clients still use the old versions of the functions. Then the requests of all functions shift together to the new
 * versions. If a new version is worse, all aliases point back at once, and the other changes of the stack stay.
 *
 * Such a canary records the old versions in the stack's parameters before an alias moves. If this process ends before
 * the canary does, clients use the old versions, the new versions or both, and the next deployment starts with the old
 * versions again.
 *
 * @throws UsageError if a check or an update fails, a new version is worse, or an operator interrupts the deployment
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
    return await deployAtOnce(name, undefined, [], tools);
  }
  requireUpdatable(stack);
  requireEpochs(stage, stack, template);
  if (!options.isKeepingChanges) {
    const waitForDrift = async (milliseconds: number) => {
      await tools.wait(milliseconds);
      tools.interruption.throwIfAborted();
    };
    await requireNoChangesByHand(aws, name, template, waitForDrift);
  }
  tools.interruption.throwIfAborted();
  const held = heldAliasesOf(template);
  if (held.length === 0) return await deployAtOnce(name, stack, [], tools);
  if (options.isAllAtOnce) {
    const old = await restoreOldVersions(stack, held, tools);
    try {
      return await deployAtOnce(name, stack, releasedOptions(old), tools);
    } catch (error) {
      throw await withOldVersions(old, error as Error, tools);
    }
  }
  await release(stage, stack, template, held, tools);
}

/** Deploys a stack without a canary. If an operator interrupts the update of an existing stack, cancels the update. */
async function deployAtOnce(
  name: string,
  stack: DeployedStack | undefined,
  options: string[],
  tools: Tools,
): Promise<void> {
  await deployAccount(tools);
  tools.interruption.throwIfAborted();
  const interrupted = once(tools.interruption, 'abort').then(() => tools.interruption.throwIfAborted());
  interrupted.catch(() => {}); // nothing awaits the promise after the update
  await updateUnlessFailing(name, stack, options, interrupted, tools);
}

async function release(
  stage: string,
  stack: DeployedStack,
  template: Template,
  held: HeldAlias[],
  tools: Tools,
): Promise<void> {
  const { aws, print } = tools;
  const { name } = stack;
  await requireSameRoles(name, template, aws);
  const baseUrl = stack.outputs['BaseUrl']!;
  if (!tools.hasApiKey)
    throw new UsageError(
      `Set API_KEY to an API key of the stage ${stage}, which the probe uses, or append --all-at-once.`,
    );
  const old = await restoreOldVersions(stack, held, tools);
  await tools.probe(baseUrl, 0, tools.interruption).catch((error: Error) => {
    // The probe also rejects if the operator interrupts the deployment.
    if (tools.interruption.aborted) throw error;
    throw new UsageError(
      `${error.message}\nNothing was deployed, because the stage already failed the probe. If the stage is faulty and this deployment ` +
        'repairs it, append --all-at-once.',
    );
  });
  await deployAccount(tools);

  const alarm = await findAlarm(name, tools);
  const probe = startProbe(baseUrl, tools);
  let shifts: Shift[];
  try {
    print('The stack is being updated. Clients still use the old versions.');
    const options = [...parameters(old, false), ...alarm.options];
    try {
      await updateUnlessFailing(name, stack, options, probe.failure, tools);
    } catch (error) {
      throw await withOldVersions(old, error as Error, tools);
    }
    // This check is repeated, because the update can have taken so long that the start of an epoch is now too near.
    requireEpochs(stage, stack, template);
    shifts = await findShifts(name, held, old, aws);
    if (shifts.length > 0) await shift(stage, shifts, probe.failure, alarm.findFired, tools);
    else print('No function has a new version.');
  } finally {
    await probe.stop();
  }
  // The aliases point to the new versions already, so this update only makes the stack agree with them.
  await tools.deployStack(name, releasedOptions(old)).catch(async (error: Error) => {
    // A rollback of this update can have pointed aliases back, so they are pointed to the new versions again.
    await point(
      aws,
      shifts.map(({ functionName, newVersion }) => ({ functionName, version: newVersion })),
    );
    throw new UsageError(
      `${error.message}\nAll requests go to the new versions, but the stack does not record this. Deploy again.`,
    );
  });
  print(
    `${name} was deployed. To go back to the old versions, run npm run deploy -- --stage ${stage} --back.`,
  );
}

/** Shifts the requests to the new versions. If this fails, points the aliases back. */
async function shift(
  stage: string,
  shifts: Shift[],
  failure: Promise<void>,
  findAlarms: () => Promise<string[]>,
  tools: Tools,
): Promise<void> {
  const { aws, wait, print } = tools;
  // Waiting ends when the probe fails, so that the aliases point back within seconds.
  const untilFailure = (milliseconds: number) => Promise.race([wait(milliseconds), failure]);
  try {
    // The probe can have failed since the update.
    await untilFailure(0);
    await shiftRequests(stage, shifts, { aws, print, wait: untilFailure, findAlarms });
    tools.interruption.throwIfAborted();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await pointBack(aws, shifts, wait).catch((problem: Error) => {
      throw new UsageError(
        `${error.message}\n${problem.message}\nAliases may still point to the new versions. Follow "Rollback by hand" in docs/runbook.md.`,
      );
    });
    throw new UsageError(
      `${error.message}\nAll requests go to the old versions again. Other changes of the stack stay.`,
    );
  }
}

/**
 * Creates or updates a stack. If `failure` rejects, cancels an update, or waits for the end of a creation, which
 * CloudFormation cannot cancel.
 *
 * @throws UsageError that describes the stack after a failure
 */
async function updateUnlessFailing(
  name: string,
  before: DeployedStack | undefined,
  options: string[],
  failure: Promise<void>,
  tools: Tools,
): Promise<void> {
  const { aws, print } = tools;
  const update = { hasEnded: false };
  const updating = tools.deployStack(name, options).finally(() => {
    update.hasEnded = true;
  });
  try {
    await Promise.race([updating, failure]);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    if (!update.hasEnded && before) print(`${error.message}\nThe update is canceled …`);
    if (!update.hasEnded && !before)
      print(`${error.message}\nCloudFormation cannot cancel the creation of a stack, so it continues …`);
    while (!update.hasEnded) {
      await aws('cloudformation', 'cancel-update-stack', { StackName: name }).catch((problem: AwsError) => {
        // Before the update has started, CloudFormation rejects a cancellation with this error, so the loop tries
        // again.
        if (problem.code !== 'ValidationError') print(problem.message);
      });
      await Promise.race([tools.wait(5_000), updating.catch(() => {})]);
    }
    throw new UsageError(`${error.message}\n${await resultOf(name, before, aws)}`);
  }
}

/** Returns a sentence about the stack after a failed update. */
async function resultOf(name: string, before: DeployedStack | undefined, aws: Aws): Promise<string> {
  const after = await findStack(aws, name).catch(() => undefined);
  if (!after) return `The status of ${name} could not be read.`;
  if (after.updatedAt === before?.updatedAt) return 'The stack was not changed.';
  if (after.status === 'UPDATE_ROLLBACK_COMPLETE') return 'CloudFormation undid all changes.';
  if (/^(?:CREATE|UPDATE)_COMPLETE$/.test(after.status)) return 'The stack was changed.';
  return `${name} has the status ${after.status}. ${adviceFor(after.status)}`;
}

/**
 * Points the aliases to their versions before a failed update, because CloudFormation's rollback points them to the
 * versions of the last deployment, although somebody may have gone back by hand since then.
 *
 * @returns the error with a sentence about the versions
 */
async function withOldVersions(old: LiveAlias[], error: Error, { aws, wait }: Tools): Promise<Error> {
  if (!(error instanceof UsageError)) return error;
  await repeatUntilSuccess(wait, async () => {
    const states = await Promise.all(old.map(({ functionName }) => stateOf(aws, functionName)));
    const moved = old.filter(({ version }, index) => states[index]!.version !== version);
    await point(aws, moved);
  });
  return new UsageError(`${error.message}\nThe functions have their old versions.`);
}

/**
 * Checks that all functions keep their roles, because a canary needs two versions with the same role.
 *
 * @throws UsageError if a function gets another role
 */
async function requireSameRoles(name: string, template: Template, aws: Aws): Promise<void> {
  const { TemplateBody } = await aws('cloudformation', 'get-template', { StackName: name });
  const deployed = rolesOf(TemplateBody as Template);
  for (const [aliasId, role] of rolesOf(template)) {
    const before = deployed.get(aliasId);
    // https://docs.aws.amazon.com/lambda/latest/dg/configuring-alias-routing.html
    if (before !== undefined && before !== role)
      throw new UsageError(
        `Nothing was deployed, because ${role} replaces the role ${before}, and Lambda cannot divide requests between versions ` +
          'with different roles. Restore the id of the role, or append --all-at-once.',
      );
  }
}

/**
 * Returns options that make CloudFormation watch the alarm, and a function that checks the alarm. If the alarm is
 * active already, neither CloudFormation nor the function watches it, because the alarm would stop a deployment that
 * ends the errors.
 */
async function findAlarm(name: string, { aws, print }: Tools) {
  const read = async (): Promise<{ AlarmArn?: string; StateValue?: string }> => {
    const AlarmNamePrefix = `${name}-Monitoring${ROLLBACK_ALARM}`;
    return (await aws('cloudwatch', 'describe-alarms', { AlarmNamePrefix })).MetricAlarms[0] ?? {};
  };
  const { AlarmArn = 'none', StateValue } = await read();
  const isActive = StateValue === 'ALARM';
  if (isActive) print(`The deployment does not watch ${ROLLBACK_ALARM}, because this alarm is active.`);
  return {
    options: [
      `--rollback-trigger-alarm-arns=${isActive ? 'none' : AlarmArn}`,
      `--monitoring-time-minutes=${MONITORING_MINUTES}`,
    ],
    findFired: async () => {
      const hasFired = !isActive && (await read()).StateValue === 'ALARM';
      return hasFired ? [`The alarm ${ROLLBACK_ALARM} has fired.`] : [];
    },
  };
}

/** Returns the functions whose new version differs from the old version. */
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
 * If an earlier deployment moved aliases and did not finish, points these aliases to their old versions again.
 *
 * @returns the aliases with the versions that clients use
 */
async function restoreOldVersions(
  stack: DeployedStack,
  held: HeldAlias[],
  tools: Tools,
): Promise<LiveAlias[]> {
  const { aws, print } = tools;
  const physicalIds = await physicalIdsOf(aws, stack.name);
  const live = await findLiveAliases(aws, held, physicalIds);
  const isUnfinished = stack.parameters[RELEASED_PARAMETER] === 'false';
  // The stack contains only the versions of the last deployment. An alias that points to an older version was moved by
  // hand, so it stays.
  const newVersions = new Set(physicalIds.values().map((id) => id.split(':').slice(-2).join(':')));
  const moved = live.flatMap((alias) => {
    const recorded = (isUnfinished && stack.parameters[alias.parameter]) || alias.version;
    const isNew = newVersions.has(`${alias.functionName}:${alias.version}`) && alias.version !== recorded;
    return isDivided(alias) || isNew ? [{ ...alias, version: recorded, weights: {} }] : [];
  });
  if (moved.length > 0) {
    print('An earlier deployment did not finish. All requests go to the old versions again.');
    await point(aws, moved);
  }
  return live.map((alias) => moved.find(({ aliasId }) => aliasId === alias.aliasId) ?? alias);
}

/**
 * Points all aliases to the versions before the last deployment.
 *
 * @param isOnlyUnfinished whether to change nothing if the last deployment has finished
 * @throws UsageError if the stack does not exist or records no older versions, or if lists would omit items
 */
export async function goBack(
  stage: string,
  isOnlyUnfinished: boolean,
  { aws, print, wait }: Tools,
): Promise<void> {
  const name = stackName(stage);
  let stack = await findStack(aws, name);
  // The command waits for a running update, because its end can change the aliases and the parameters.
  if (stack?.status.endsWith('_IN_PROGRESS'))
    print(`Waiting, because ${name} has the status ${stack.status} …`);
  while (stack?.status.endsWith('_IN_PROGRESS')) {
    await wait(5_000);
    stack = await findStack(aws, name);
  }
  if (!stack) throw new UsageError(`There is no stack ${name}. Check AWS_PROFILE and AWS_REGION.`);
  if (isOnlyUnfinished && stack.parameters[RELEASED_PARAMETER] !== 'false')
    return print('The last deployment has finished, so nothing was changed.');
  const { TemplateBody } = await aws('cloudformation', 'get-template', { StackName: name });
  const live = await findLiveAliases(
    aws,
    heldAliasesOf(TemplateBody as Template),
    await physicalIdsOf(aws, name),
  );
  const recorded = live.filter(({ parameter }) => stack.parameters[parameter]);
  if (recorded.length === 0)
    throw new UsageError(`${name} records no older versions. Deploy an older commit.`);
  const moved = recorded.flatMap((alias) => {
    const { functionName, parameter, version: from } = alias;
    const version = stack.parameters[parameter]!;
    return version !== from || isDivided(alias) ? [{ functionName, version, from }] : [];
  });
  if (moved.length === 0)
    return print(
      'The functions have their versions from before the last deployment already. Deploy an older commit to go back further.',
    );
  for (const { functionName, version } of moved) {
    const [older, present] = await Promise.all(
      [version, 'live'].map((qualifier) => epochsOf(aws, functionName, qualifier)),
    );
    requireSameStartedEpochs(`${functionName}, version ${version}`, present!, older!);
  }
  await repeatUntilSuccess(wait, async () => {
    await point(aws, moved);
  });
  for (const { functionName, from, version } of moved)
    print(`${functionName}: live points to version ${version} instead of ${from}.`);
  print(
    'Revert the commit of the new versions, because the next deployment would otherwise deploy the same code again.',
  );
}

/**
 * Returns the epochs that a version of a function knows, as JSON. A version from before there were epochs knows only a
 * number of list partitions. For such a version, `epochsOf` returns one epoch with this number as its count.
 */
async function epochsOf(aws: Aws, FunctionName: string, Qualifier: string): Promise<string> {
  const { Environment } = await aws('lambda', 'get-function-configuration', { FunctionName, Qualifier });
  const epochs = Environment?.Variables?.[environmentVariables.listPartitions] ?? '[]';
  return epochs.startsWith('[') ? epochs : JSON.stringify([{ since: ID_START, count: Number(epochs) }]);
}

/** Checks that the epochs of a template agree with those of the deployed stack. @throws UsageError if they do not */
function requireEpochs(stage: string, { outputs }: DeployedStack, template: Template): void {
  const planned = template.Outputs['ListPartitions']!.Value as string;
  // A stack from before there were epochs lacks this output. Its number of list partitions must be that of the first
  // epoch.
  const deployed = outputs['ListPartitions'] ?? JSON.stringify([JSON.parse(planned)[0]]);
  requireSameStartedEpochs(`infra/stages.ts, stage ${stage}`, deployed, planned);
}

/** Returns options of `cdk deploy` that record the old versions, and say whether the aliases stay at these versions. */
function parameters(old: LiveAlias[], isReleased: boolean): string[] {
  const values = [
    `${RELEASED_PARAMETER}=${isReleased}`,
    ...old.map(({ parameter, version }) => `${parameter}=${version}`),
  ];
  return values.flatMap((value) => ['--parameters', value]);
}

/** Returns options of `cdk deploy` for an update after which the aliases point to the new versions. */
function releasedOptions(old: LiveAlias[]): string[] {
  // `none` removes alarms of earlier updates, which CloudFormation would keep.
  return [...parameters(old, true), '--rollback-trigger-alarm-arns=none'];
}

/** Deploys the stack that all stages in the account and region share. */
async function deployAccount(tools: Tools): Promise<void> {
  await tools.deployStack(stackName('account'), []);
}

/** Probes the stage until `stop` is called. `failure` rejects if the probe fails or an operator interrupts the deployment. */
function startProbe(baseUrl: string, { probe, interruption }: Tools) {
  const end = new AbortController();
  const failure = probe(baseUrl, Infinity, AbortSignal.any([interruption, end.signal]));
  failure.catch(() => {}); // between steps, nothing awaits the promise
  const stop = async () => {
    end.abort(new UsageError('The probe has ended.'));
    await failure.catch(() => {});
  };
  return { failure, stop };
}
