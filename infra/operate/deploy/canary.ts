import { metricNamespace, metrics, serviceName } from '../../../shared/names.ts';
import { UsageError } from '../../command.ts';
import { isDivided, movedByOthers, point, stateOf } from './aliases.ts';
import type { Aws } from './aws-cli.ts';
import { isWorse } from './comparison.ts';

/** A function whose alias moves from an old version to a new version. */
export interface Shift {
  /** Operation of the function, or `authorizer`. */
  operation: string;
  functionName: string;
  oldVersion: string;
  newVersion: string;
}

/**
 * Shares of the requests that the new versions get, one after the other. The old versions get the other requests, so
 * that both versions can be compared at the same time. Metrics can be 3 minutes late, so the last step also waits for
 * the metrics of the steps before.
 */
const steps = [
  { share: 0.1, minutes: 10 },
  { share: 0.5, minutes: 5 },
  { share: 1, minutes: 4 },
] as const;

const MINUTE = 60_000;

/** Number of consecutive minutes without a response of CloudWatch after which the deployment fails. */
const MAX_UNANSWERED = 3;

/** Period in which the new versions got a share of the requests. Its times are in milliseconds since 1970. */
interface Period {
  share: number;
  from: number;
  /** If omitted, the period has not ended. */
  to?: number;
}

/** Kinds of failures by which the versions are compared, each with its name in messages and its metric for a version. */
const failures = [
  {
    what: 'crashes and time-outs',
    metric: ({ functionName }: Shift, version: string) => ({
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: dimensions({
        FunctionName: functionName,
        Resource: `${functionName}:live`,
        ExecutedVersion: version,
      }),
    }),
  },
  {
    what: 'responses with internal_error',
    metric: (shift: Shift, version: string, stage: string) =>
      emitted(metrics.internalErrors.name, shift, version, stage),
  },
  {
    what: 'rejected requests (4xx)',
    metric: (shift: Shift, version: string, stage: string) =>
      emitted(metrics.rejections.name, shift, version, stage),
  },
];

function emitted(MetricName: string, { operation }: Shift, version: string, stage: string) {
  const service = serviceName(stage);
  return { Namespace: metricNamespace, MetricName, Dimensions: dimensions({ service, operation, version }) };
}

function dimensions(values: Record<string, string>) {
  return Object.entries(values).map(([Name, Value]) => ({ Name, Value }));
}

interface Tools {
  aws: Aws;
  wait: (milliseconds: number) => Promise<void>;
  print: (line: string) => void;
  /** Returns a sentence for each alarm that has fired. */
  findAlarms: () => Promise<string[]>;
}

/**
 * Shifts all requests to the new versions in steps.
 *
 * @throws UsageError if a new version fails more often than the old version at the same time, an alarm fires, somebody
 *   else moves an alias, or CloudWatch does not respond. The caller must then point the aliases back.
 */
export async function shiftRequests(
  stage: string,
  shifts: Shift[],
  { aws, wait, print, findAlarms }: Tools,
): Promise<void> {
  const periods: Period[] = [];
  let unanswered = 0;
  let revisions = await requireVersions(aws, shifts, 'oldVersion');
  for (const { share, minutes } of steps) {
    const last = periods.at(-1);
    if (last) last.to = Date.now();
    const targets = shifts.map((shift) => targetOf(shift, share));
    revisions = await point(aws, targets, revisions);
    print(`${share * 100}% of the requests go to the new versions for ${minutes} minutes.`);
    if (share < 1) periods.push({ share, from: Date.now() });
    for (let minute = 1; minute <= minutes; minute += 1) {
      await wait(MINUTE);
      const worse = await Promise.all([findAlarms(), findWorse(aws, stage, shifts, periods)]).then(
        (problems) => {
          unanswered = 0;
          return problems.flat();
        },
        (error: unknown) => {
          unanswered += 1;
          if (unanswered === MAX_UNANSWERED || !(error instanceof UsageError)) throw error;
          print(`CloudWatch could not be read. ${error.message}`);
          return [];
        },
      );
      if (worse.length > 0) throw new UsageError(worse.join('\n'));
      print(`${share * 100}%: ${minute} of ${minutes} minutes passed.`);
    }
  }
  await requireVersions(aws, shifts, 'newVersion');
}

/** Returns the aliases' revision ids by function. @throws UsageError if an alias does not point to `which` alone */
async function requireVersions(
  aws: Aws,
  shifts: Shift[],
  which: 'oldVersion' | 'newVersion',
): Promise<Map<string, string>> {
  const states = await Promise.all(
    shifts.map(async (shift) => {
      const state = await stateOf(aws, shift.functionName);
      if (state.version !== shift[which] || isDivided(state)) throw movedByOthers(shift.functionName);
      return [shift.functionName, state.revisionId] as const;
    }),
  );
  return new Map(states);
}

function targetOf({ functionName, oldVersion, newVersion }: Shift, share: number) {
  return share === 1
    ? { functionName, version: newVersion }
    : { functionName, version: oldVersion, weights: { [newVersion]: share } };
}

/** Returns a sentence for each metric in which a new version is worse than the old version. */
async function findWorse(aws: Aws, stage: string, shifts: Shift[], periods: Period[]): Promise<string[]> {
  const start = firstMinute(periods[0]!);
  if (start >= Date.now()) return [];
  const compared = shifts.flatMap((shift) =>
    failures.map(({ what, metric }) => ({
      shift,
      what,
      metrics: [shift.oldVersion, shift.newVersion].map((version) => metric(shift, version, stage)),
    })),
  );
  const { MetricDataResults } = await aws('cloudwatch', 'get-metric-data', {
    StartTime: new Date(start).toISOString(),
    EndTime: new Date().toISOString(),
    ScanBy: 'TimestampAscending',
    MetricDataQueries: compared.flatMap(({ metrics: [old, fresh] }, index) => [
      { Id: `old${index}`, MetricStat: { Metric: old, Period: 60, Stat: 'Sum' } },
      { Id: `new${index}`, MetricStat: { Metric: fresh, Period: 60, Stat: 'Sum' } },
    ]),
  });
  const results = new Map<string, [time: number, value: number][]>(
    MetricDataResults.map(({ Id, Timestamps, Values }: any) => [
      Id,
      Timestamps.map((time: string, index: number) => [Date.parse(time), Values[index]]),
    ]),
  );
  return compared.flatMap(({ shift, what }, index) =>
    periods.flatMap((period) => {
      const [old, fresh] = ['old', 'new'].map((id) => countIn(period, results.get(`${id}${index}`) ?? []));
      if (!isWorse(period.share, old!, fresh!)) return [];
      const percent = period.share * 100;
      return `${shift.operation}: version ${shift.newVersion} had ${fresh} ${what} with ${percent}% of the requests, and version ${shift.oldVersion} had ${old} with ${100 - percent}%.`;
    }),
  );
}

/** Returns the start of the first minute that lies within the period. */
function firstMinute({ from }: Period): number {
  return Math.ceil(from / MINUTE) * MINUTE;
}

/** Returns the sum of the values in the minutes that lie completely within the period. */
function countIn(period: Period, values: [time: number, value: number][]): number {
  const to = period.to === undefined ? Infinity : Math.floor(period.to / MINUTE) * MINUTE;
  return values
    .filter(([time]) => firstMinute(period) <= time && time < to)
    .reduce((sum, [, value]) => sum + value, 0);
}
