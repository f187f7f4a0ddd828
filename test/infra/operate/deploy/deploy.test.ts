import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { UsageError } from '../../../../infra/command.ts';
import { AwsError } from '../../../../infra/operate/deploy/aws-cli.ts';
import { deploy, goBack } from '../../../../infra/operate/deploy/deploy.ts';
import { type Behavior, FakeStage, templateWith } from './fake-stage.ts';

beforeEach(() => void jest.useFakeTimers({ now: Date.parse('2027-01-01T12:00:10Z') }));
afterEach(() => void jest.useRealTimers());

const OLD = ['7', '7', '7', '7'];
const NEW = ['8', '8', '8', '8'];

/** Waits until `work` ends, in virtual time. Returns the message of its error, or undefined. */
async function outcomeOf(work: Promise<void>): Promise<string | undefined> {
  const state = { hasEnded: false };
  const outcome = work.then(
    () => undefined,
    (error: Error) => error.message,
  );
  void outcome.finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) await jest.advanceTimersByTimeAsync(10_000);
  return await outcome;
}

function deployTo(stage: FakeStage, tools = stage.tools(), options = {}, template = templateWith()) {
  return outcomeOf(deploy('production', template, options, tools));
}

test('a deployment holds all aliases during the stack update, and then shifts them together in steps', async () => {
  const stage = new FakeStage();
  const live: string[] = [];
  const watch = setInterval(() => live.push(stage.live.join(' | ')), 10_000);
  expect(await deployTo(stage)).toBeUndefined();
  clearInterval(watch);
  const minutes = Map.groupBy(live, (state) => state);
  expect([...minutes.keys()]).toEqual([
    '7 | 7 | 7 | 7',
    '8: 0.1 7 | 8: 0.1 7 | 8: 0.1 7 | 8: 0.1 7',
    '8: 0.5 7 | 8: 0.5 7 | 8: 0.5 7 | 8: 0.5 7',
    '8 | 8 | 8 | 8',
  ]);
  // The states are observed every 10 seconds, so six observations are a minute. The first state includes the 7 minutes of
  // the first update, and the last state the 2 minutes of the second update.
  const observed = [...minutes.values()].map((states) => Math.round(states.length / 6));
  expect(observed).toEqual([7, 10, 5, 6]);
  expect(stage.live).toEqual(NEW);
  const record = Object.fromEntries(
    ['ListBooks', 'AddBook', 'GetBook', 'Authorizer'].map((name) => [`${name}LiveVersion`, '7']),
  );
  expect(stage.stack.parameters).toEqual({ Released: 'true', ...record });
});

test('CloudFormation watches the alarm for five minutes after the first update, but not after the second update', async () => {
  const stage = new FakeStage();
  await deployTo(stage);
  const [, first, second] = stage.calls.filter((call) => call.startsWith('deploy'));
  expect(first).toMatch(
    /--parameters Released=false .*--rollback-trigger-alarm-arns=arn:alarm --monitoring-time-minutes=5$/,
  );
  expect(second).toMatch(/--parameters Released=true .*--rollback-trigger-alarm-arns=none$/);
});

test('each deployment records the versions that were live before it', async () => {
  const stage = new FakeStage();
  await deployTo(stage);
  stage.planned = '9';
  expect(await deployTo(stage)).toBeUndefined();
  expect(stage.stack.parameters).toMatchObject({ Released: 'true', AddBookLiveVersion: '8' });
  expect(await outcomeOf(goBack('production', false, stage.tools()))).toBeUndefined();
  expect(stage.live).toEqual(NEW);
});

test('a deployment that changes no function ends without a canary', async () => {
  const stage = new FakeStage();
  stage.newest = '8';
  for (const name of ['listBooks', 'addBook', 'getBook', 'authorizer']) stage.setAlias(name, '8');
  expect(await deployTo(stage)).toBeUndefined();
  expect(stage.calls.filter((call) => call.endsWith('update-alias'))).toEqual([]);
  expect(stage.live).toEqual(NEW);
});

test('the first deployment has no probe and no canary', async () => {
  const stage = new FakeStage();
  stage.exists = false;
  expect(await deployTo(stage)).toBeUndefined();
  expect(stage.calls).toEqual([
    'cloudformation describe-stacks',
    'deploy PetStore-account',
    'deploy PetStore-production',
  ]);
});

test('--all-at-once needs no probe, and records the old versions', async () => {
  const stage = new FakeStage({ probeFailsAt: 0, isAlarmActive: true });
  expect(await deployTo(stage, stage.tools(), { isAllAtOnce: true })).toBeUndefined();
  expect(stage.live).toEqual(NEW);
  expect(stage.stack.parameters).toMatchObject({ Released: 'true', AddBookLiveVersion: '7' });
});

describe('a deployment changes nothing if', () => {
  test.each<[string, Partial<Behavior>, RegExp]>([
    [
      'the stage fails the probe before the deployment',
      { probeFailsAt: 0 },
      /^3 requests failed\.\nNothing was deployed, because /,
    ],
    [
      'somebody changed a resource',
      {
        drifts: [
          {
            LogicalResourceId: 'Books',
            StackResourceDriftStatus: 'MODIFIED',
            PropertyDifferences: [{ PropertyPath: '/Name' }],
          },
        ],
      },
      /^Somebody changed PetStore-production by hand:\n- Books: MODIFIED \/Name\nFollow "Undo changes by hand" in /,
    ],
    ['a function is blocked', { reservedConcurrency: 0 }, /- listBooks: reserved concurrency 0\n/],
    [
      'CloudFormation cannot compare a resource',
      { driftDetection: 'DETECTION_FAILED' },
      /^CloudFormation could not compare all resources .*--ignore-changes\. Reason: not authorized to perform kms:DescribeKey$/,
    ],
    ['the web ACL is disconnected', { webAcl: undefined }, /- The web ACL is disconnected from the API\n/],
  ])('%s', async (_reason, behavior, message) => {
    const stage = new FakeStage(behavior);
    expect(await deployTo(stage)).toMatch(message);
    expect(stage.calls.filter((call) => /^deploy|update-alias/.test(call))).toEqual([]);
  });

  test.each(['UPDATE_IN_PROGRESS', 'UPDATE_ROLLBACK_FAILED', 'ROLLBACK_COMPLETE'])(
    'the status of the stack is %s',
    async (status) => {
      const stage = new FakeStage();
      stage.stack.status = status;
      expect(await deployTo(stage)).toMatch(new RegExp(`^PetStore-production has the status ${status}\\. `));
      expect(stage.calls).toEqual(['cloudformation describe-stacks']);
    },
  );

  const first = { since: '2025-01-01T00:00:00Z', count: 1 };
  test.each([
    ['edits an epoch that has started', [{ ...first, count: 2 }]],
    ['adds an epoch that starts within two hours', [first, { since: '2027-01-01T13:00:00Z', count: 2 }]],
  ])('it %s', async (_what, planned) => {
    const stage = new FakeStage();
    const message = await deployTo(stage, stage.tools(), {}, templateWith(JSON.stringify(planned)));
    expect(message).toMatch(
      /^infra\/stages\.ts, stage production: The epochs of listPartitions that start before /,
    );
    expect(stage.calls).toEqual(['cloudformation describe-stacks']);
  });
});

test('changes by hand are kept with --ignore-changes, and aliases are not compared', async () => {
  const kept = new FakeStage({ reservedConcurrency: 0 });
  expect(await deployTo(kept, kept.tools(), { isKeepingChanges: true })).toBeUndefined();
  const alias = {
    LogicalResourceId: 'GetBookLive',
    ResourceType: 'AWS::Lambda::Alias',
    StackResourceDriftStatus: 'MODIFIED',
  };
  const moved = new FakeStage({ drifts: [alias] });
  expect(await deployTo(moved)).toBeUndefined();
});

test('an epoch that starts in twelve hours can be added', async () => {
  const stage = new FakeStage();
  const planned = [
    { since: '2025-01-01T00:00:00Z', count: 1 },
    { since: '2027-01-02T00:00:00Z', count: 4 },
  ];
  expect(await deployTo(stage, stage.tools(), {}, templateWith(JSON.stringify(planned)))).toBeUndefined();
});

describe('a deployment ends with the old versions if', () => {
  test.each<[string, Partial<Behavior>, RegExp]>([
    [
      'one of four new versions crashes',
      { failures: { Errors: { addBook: { 8: 0.5 } } } },
      /^addBook: version 8 had \d+ crashes and time-outs with 10% of the requests, and version 7 had 0 with 90%\.\n/,
    ],
    [
      'a new version returns a 400 to every key',
      { failures: { Rejections: { listBooks: { 8: 1 } } } },
      /^listBooks: version 8 had \d+ rejected requests/,
    ],
    [
      'a new authorizer denies every key',
      { failures: { Rejections: { authorizer: { 8: 1 } } } },
      /^authorizer: version 8 had \d+ rejected requests/,
    ],
    [
      'a new version returns internal_error',
      { failures: { InternalErrors: { getBook: { 8: 0.02 } } } },
      /^getBook: version 8 had \d+ responses with internal_error/,
    ],
    [
      'a new version fails more often than the old one',
      { failures: { Errors: { getBook: { 7: 0.01, 8: 0.1 } } } },
      /^getBook: version 8 had \d+ crashes/,
    ],
    [
      'the probe fails in the canary',
      { probeFailsAt: 10 },
      /^3 requests failed\.\nAll requests go to the old versions again\./,
    ],
    [
      'the probe fails after the shift',
      { probeFailsAt: 24 },
      /^3 requests failed\.\nAll requests go to the old versions again\./,
    ],
    [
      'the probe fails during the update',
      { probeFailsAt: 4 },
      /^3 requests failed\.\nCloudFormation undid all changes\.\nThe functions have their old versions\.$/,
    ],
    [
      'the alarm fires during the update',
      { alarmFiresAt: 4 },
      /^cdk deploy failed\.\nCloudFormation undid all changes\.\nThe functions have their old versions\.$/,
    ],
    [
      'the alarm fires in the canary',
      { alarmFiresAt: 12 },
      /^The alarm ReleaseServerErrors has fired\.\nAll requests go to the old/,
    ],
    [
      'the alarm fires after the shift',
      { alarmFiresAt: 25 },
      /^The alarm ReleaseServerErrors has fired\.\nAll requests go to the old/,
    ],
    [
      'CloudWatch does not respond',
      {
        reject: (_service, operation) =>
          operation === 'get-metric-data' ? new AwsError('Down.') : undefined,
      },
      /^Down\.\nAll requests go to the old versions again/,
    ],
  ])('%s', async (_reason, behavior, message) => {
    const stage = new FakeStage(behavior);
    expect(await deployTo(stage)).toMatch(message);
    expect(stage.live).toEqual(OLD);
  });

  test('AWS rejects the shift of one of four aliases', async () => {
    let rejected = false;
    const stage = new FakeStage({
      reject: (_service, operation, input) => {
        if (operation !== 'update-alias' || input.FunctionName !== 'getBook' || rejected) return undefined;
        rejected = true;
        return new AwsError('The versions have different roles.');
      },
    });
    expect(await deployTo(stage)).toMatch(
      /^The versions have different roles\.\nAll requests go to the old versions again/,
    );
    expect(stage.live).toEqual(OLD);
  });
});

// Failures that clients cause are split between the versions in the same proportion as all requests, so they do not make the
// new version look worse than the old one.
test.each<[string, Partial<Behavior>]>([
  [
    'a stranger sends 6,000 made-up keys a minute',
    { failures: { Rejections: { authorizer: { 7: 10, 8: 10 } } } },
  ],
  ['a client polls with an expired key', { failures: { Rejections: { authorizer: { 7: 0.02, 8: 0.02 } } } }],
  ['an active client sends only nonsense', { failures: { Rejections: { addBook: { 7: 1, 8: 1 } } } }],
  ['both versions have the same defect', { failures: { InternalErrors: { getBook: { 7: 0.1, 8: 0.1 } } } }],
  ['the new version fails less often', { failures: { Errors: { getBook: { 7: 0.1, 8: 0.01 } } } }],
  ['an alarm that the deployed fix must end is already active', { isAlarmActive: true, alarmFiresAt: 1 }],
  ['CloudWatch does not respond for two minutes', { reject: failing('get-metric-data', 2) }],
  ['the alarm cannot be read once', { reject: failing('describe-alarms', 1, 1) }],
])('a deployment passes although %s', async (_situation, behavior) => {
  const stage = new FakeStage(behavior);
  expect(await deployTo(stage)).toBeUndefined();
  expect(stage.live).toEqual(NEW);
});

/** Returns a behavior that rejects `times` requests of an operation, after `after` requests that succeed. */
function failing(rejected: string, times: number, after = 0): Behavior['reject'] {
  let count = 0;
  return (_service, operation) => {
    if (operation !== rejected) return undefined;
    count += 1;
    return count > after && count <= after + times ? new AwsError('Down.') : undefined;
  };
}

test('pointing the aliases back is retried if AWS rejects the updates', async () => {
  let updates = 0;
  const stage = new FakeStage({
    probeFailsAt: 10,
    reject: (_service, operation) => {
      if (operation !== 'update-alias') return undefined;
      updates += 1;
      // The first four updates start the canary. The next updates point the aliases back, and the first six of them fail.
      return updates > 4 && updates <= 10 ? new AwsError('Down.') : undefined;
    },
  });
  expect(await deployTo(stage)).toMatch(/All requests go to the old versions again/);
  expect(stage.live).toEqual(OLD);
});

/** Returns the number of calls that an undisturbed deployment makes. */
async function callsOfDeployment(): Promise<number> {
  const stage = new FakeStage();
  let calls = 0;
  const tools = stage.tools();
  const counted = Object.fromEntries(
    Object.entries(tools).map(([name, tool]) =>
      typeof tool === 'function' && name !== 'print'
        ? [
            name,
            (...parameters: never[]) => ((calls += 1), (tool as (...all: never[]) => unknown)(...parameters)),
          ]
        : [name, tool],
    ),
  ) as unknown as typeof tools;
  expect(await deployTo(stage, counted)).toBeUndefined();
  return calls;
}

test.each([false, true])(
  'after kill -9 at any call (the call still takes effect: %p), the next deployment starts with the old versions unless the new ones were released, and succeeds',
  async (isEffective) => {
    const calls = await callsOfDeployment();
    expect(calls).toBeGreaterThan(50);
    for (let killedAt = 1; killedAt <= calls; killedAt += 1) {
      const stage = new FakeStage();
      await deployTo(stage, stage.tools({ killedAt, isEffective }));
      await jest.advanceTimersByTimeAsync(10 * 60_000); // CloudFormation continues without the process.
      const states = stage.live.join();
      expect({ killedAt, states }).toEqual({
        killedAt,
        states: expect.stringMatching(/^(?:(?:8: 0\.[15] )?7|8|,)+$/),
      });
      stage.behavior.probeFailsAt = 0;
      await deployTo(stage);
      const isReleased = stage.stack.parameters['Released'] === 'true' && stage.newest === '8';
      expect({ killedAt, live: stage.live }).toEqual({ killedAt, live: isReleased ? NEW : OLD });
      stage.behavior.probeFailsAt = Infinity;
      expect({ killedAt, outcome: await deployTo(stage) }).toEqual({ killedAt, outcome: undefined });
      expect({ killedAt, live: stage.live }).toEqual({ killedAt, live: NEW });
    }
  },
);

test('after kill -9 at any call and --back, all functions have the old versions', async () => {
  const calls = await callsOfDeployment();
  for (let killedAt = 1; killedAt <= calls; killedAt += 1) {
    const stage = new FakeStage();
    await deployTo(stage, stage.tools({ killedAt, isEffective: true }));
    await jest.advanceTimersByTimeAsync(10 * 60_000);
    const isRecorded = 'AddBookLiveVersion' in stage.stack.parameters;
    const outcome = await outcomeOf(goBack('production', false, stage.tools()));
    expect({ killedAt, outcome }).toEqual({
      killedAt,
      outcome: isRecorded
        ? undefined
        : 'PetStore-production records no older versions. Deploy an older commit.',
    });
    expect({ killedAt, live: stage.live }).toEqual({ killedAt, live: OLD });
  }
});

test('after an interruption at any call, all functions have the old versions, or the deployment succeeds', async () => {
  const calls = await callsOfDeployment();
  for (let interruptedAt = 1; interruptedAt <= calls; interruptedAt += 1) {
    const stage = new FakeStage();
    const outcome = await deployTo(stage, stage.tools({ interruptedAt }));
    expect({ interruptedAt, live: stage.live }).toEqual({
      interruptedAt,
      live: outcome === undefined ? NEW : OLD,
    });
    expect(stage.stack.status).not.toMatch(/IN_PROGRESS|FAILED/);
  }
});

/** Runs `act` after some minutes of virtual time. Returns the message of its error, or undefined. */
function afterMinutes(minutes: number, act: () => Promise<void>): Promise<string | undefined> {
  return new Promise((resolve) => {
    setTimeout(
      () =>
        act().then(
          () => resolve(undefined),
          (error: Error) => resolve(error.message),
        ),
      minutes * 60_000,
    );
  });
}

test.each([
  ['while requests shift', 12],
  ['after all requests have shifted', 24],
])(
  'a deployment stops if somebody goes back by hand %s, and changes no alias after that',
  async (_when, minute) => {
    const stage = new FakeStage();
    const back = afterMinutes(minute, () => goBack('production', false, stage.tools()));
    expect(await deployTo(stage)).toMatch(
      /^Somebody else moved the alias live of \w+ during this deployment\./,
    );
    expect(await back).toBeUndefined();
    expect(stage.live).toEqual(OLD);
  },
);

test('if a second deployment starts while requests shift, only the second deployment continues', async () => {
  const stage = new FakeStage();
  const second = afterMinutes(12, () => {
    stage.planned = '9';
    return deploy('production', templateWith(), {}, stage.tools());
  });
  expect(await deployTo(stage)).toMatch(
    /^Somebody else moved the alias live of \w+ during this deployment\./,
  );
  const outcome = outcomeOf(
    second.then((message) => (message ? Promise.reject(new Error(message)) : undefined)),
  );
  expect(await outcome).toBeUndefined();
  expect(stage.live).toEqual(['9', '9', '9', '9']);
});

test('the next deployment starts with versions that somebody chose by hand after an unfinished deployment', async () => {
  const stage = new FakeStage();
  await deployTo(stage, stage.tools({ killedAt: 60 }));
  for (const name of ['listBooks', 'addBook', 'getBook', 'authorizer']) stage.setAlias(name, '6');
  stage.behavior.probeFailsAt = 0;
  expect(await deployTo(stage)).toMatch(/Nothing was deployed/);
  expect(stage.live).toEqual(['6', '6', '6', '6']);
});

test('an interruption of the first probe is not reported as a failed probe', async () => {
  const stage = new FakeStage();
  const interruption = new AbortController();
  const probe = async () => {
    interruption.abort(new UsageError('The deployment was interrupted.'));
    throw interruption.signal.reason;
  };
  const tools = { ...stage.tools(), probe, interruption: interruption.signal };
  expect(await deployTo(stage, tools)).toBe('The deployment was interrupted.');
});

test('an interruption cancels the update of a deployment without canary', async () => {
  const stage = new FakeStage();
  const interruption = new AbortController();
  const tools = { ...stage.tools(), interruption: interruption.signal };
  setTimeout(() => interruption.abort(new UsageError('The deployment was interrupted.')), 30_000);
  const options = { isAllAtOnce: true, isKeepingChanges: true };
  expect(await deployTo(stage, tools, options)).toMatch(/^The deployment was interrupted\./);
  expect(stage.live).toEqual(OLD);
});

test('if an update fails after somebody has gone back by hand, the functions keep the versions chosen by hand', async () => {
  const stage = new FakeStage();
  await deployTo(stage);
  await outcomeOf(goBack('production', false, stage.tools()));
  stage.planned = '9';
  const interruption = new AbortController();
  const tools = { ...stage.tools(), interruption: interruption.signal };
  setTimeout(() => interruption.abort(new UsageError('The deployment was interrupted.')), 170_000);
  expect(await deployTo(stage, tools)).toBe(
    'The deployment was interrupted.\nCloudFormation undid all changes.\nThe functions have their old versions.',
  );
  expect(stage.live).toEqual(OLD);
});

test('a deployment reports that the stack was not changed if the update did not start', async () => {
  const stage = new FakeStage();
  const tools = {
    ...stage.tools(),
    deployStack: async (name: string) => {
      if (name !== 'PetStore-account') throw new UsageError('cdk deploy failed.');
    },
  };
  expect(await deployTo(stage, tools)).toBe(
    'cdk deploy failed.\nThe stack was not changed.\nThe functions have their old versions.',
  );
});

test('a deployment rejects another role of a function, unless all requests shift at once', async () => {
  const template = templateWith();
  template.Resources['AddBook1234']!.Properties!['Role'] = { 'Fn::GetAtt': ['OtherRole', 'Arn'] };
  const stage = new FakeStage();
  expect(await deployTo(stage, stage.tools(), {}, template)).toMatch(
    /^Nothing was deployed, because OtherRole replaces the role AddBookRole, /,
  );
  expect(await deployTo(stage, stage.tools(), { isAllAtOnce: true }, template)).toBeUndefined();
});

test('--back waits until an update of the stack has ended', async () => {
  const stage = new FakeStage();
  await deployTo(stage, stage.tools({ killedAt: 30, isEffective: true }));
  stage.stack.status = 'UPDATE_IN_PROGRESS';
  setTimeout(() => (stage.stack.status = 'UPDATE_COMPLETE'), 120_000);
  expect(await outcomeOf(goBack('production', false, stage.tools()))).not.toBe('');
  expect(stage.lines).toContain('Waiting, because PetStore-production has the status UPDATE_IN_PROGRESS …');
  expect(stage.stack.status).toBe('UPDATE_COMPLETE');
});

test('--back --if-unfinished restores the old versions only after an unfinished deployment', async () => {
  const stage = new FakeStage();
  await deployTo(stage);
  expect(await outcomeOf(goBack('production', true, stage.tools()))).toBeUndefined();
  expect(stage.live).toEqual(NEW);
  const unfinished = new FakeStage();
  await deployTo(unfinished, unfinished.tools({ killedAt: 60 }));
  expect(await outcomeOf(goBack('production', true, unfinished.tools()))).toBeUndefined();
  expect(unfinished.live).toEqual(OLD);
});

test('a failed last update leaves all requests with the new versions', async () => {
  const stage = new FakeStage();
  const tools = stage.tools();
  const lastFails = {
    ...tools,
    deployStack: async (name: string, options: string[]) => {
      if (!options.includes('Released=true')) return await tools.deployStack(name, options);
      for (const one of ['listBooks', 'addBook']) stage.setAlias(one, '7');
      throw new UsageError('cdk deploy failed.');
    },
  };
  expect(await deployTo(stage, lastFails)).toMatch(
    /^cdk deploy failed\.\nAll requests go to the new versions, but /,
  );
  expect(stage.live).toEqual(NEW);
});

test('--back points all aliases to the versions that were live before the last deployment, and a further deployment succeeds', async () => {
  const stage = new FakeStage();
  await deployTo(stage);
  expect(await outcomeOf(goBack('production', false, stage.tools()))).toBeUndefined();
  expect(stage.live).toEqual(OLD);
  expect(await deployTo(stage)).toBeUndefined();
  expect(stage.live).toEqual(NEW);
});

test('--back rejects old versions whose list partitions differ from those of the new versions', async () => {
  const stage = new FakeStage();
  await deployTo(stage);
  stage.epochsOf['8'] = '[{"since":"2025-01-01T00:00:00Z","count":4}]';
  stage.epochsOf['7'] = '1';
  expect(await outcomeOf(goBack('production', false, stage.tools()))).toMatch(
    /^listBooks, version 7: The epochs of listPartitions /,
  );
  expect(stage.live).toEqual(NEW);
});
