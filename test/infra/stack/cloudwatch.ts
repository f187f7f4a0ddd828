import { serviceName } from '../../../shared/names.ts';
import { propertiesOf, type ReadableTemplate } from '../../support/stack-template.ts';

// This model of CloudWatch follows AWS's documentation. It supports only the features that the templates use.

export type AlarmState = 'OK' | 'ALARM';

/** A metric's value in the minute `minute`. Alarms can read the value from the minute `arrival` on. */
interface Datapoint {
  metric: string;
  minute: number;
  value: number;
  arrival: number;
}

/** Duration of a simulation, and details of CloudWatch's evaluation that AWS does not document. */
export interface Evaluation {
  minutes: number;
  /** Number of periods that CloudWatch reads in addition to EvaluationPeriods, in case recent periods have no data. */
  extraPeriods: number;
  /** Whether periods are aligned with the clock. If false, the last period ends at the time of the evaluation. */
  isClockAligned: boolean;
}

/** Returns a unique name for a metric. CloudWatch treats each combination of dimensions as a separate metric. */
export function metricOf(namespace: string, name: string, dimensions: Record<string, string>): string {
  const texts = Object.entries(dimensions).map((dimension) => dimension.join('='));
  return [namespace, name, ...texts.toSorted()].join(' ');
}

/** Returns an alarm's state after each minute. `alarm` contains the alarm's properties in the template. */
export function statesOf(alarm: any, datapoints: Datapoint[], evaluation: Evaluation): AlarmState[] {
  const { minutes, extraPeriods, isClockAligned } = evaluation;
  const { period, watched, valueOf } = mathOf(alarm);
  const visible = datapoints.filter(({ metric }) => watched.has(metric));
  let state: AlarmState = 'OK';
  return Array.from({ length: minutes }, (_, index) => {
    const now = index + 1;
    const end = isClockAligned ? Math.ceil(now / period) * period : now;
    const values = Array.from({ length: alarm.EvaluationPeriods + extraPeriods }, (_period, back) => {
      const to = end - back * period;
      const isIn = ({ minute }: Datapoint) => to - period <= minute && minute < to;
      return valueOf(visible.filter((point) => point.arrival <= now && isIn(point)));
    });
    state = nextState(alarm, values, state);
    return state;
  });
}

/**
 * Returns the alarm's next state.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 *
 * @param values the values of the periods, newest first, with null for a period without data
 * @param state the alarm's current state
 */
export function nextState(alarm: any, values: (number | null)[], state: AlarmState): AlarmState {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold, TreatMissingData } = alarm;
  // If recent values are missing, CloudWatch uses older values before it treats data as missing.
  const real = values.filter((value) => value !== null).slice(0, EvaluationPeriods);
  const breaching = real.filter((value) => value >= Threshold);
  if (breaching.length >= DatapointsToAlarm) return 'ALARM';
  // CloudWatch always ignores missing data of DynamoDB's metrics.
  const isOfDynamoDb = queriesOf(alarm).some(
    ({ MetricStat }) => MetricStat.Metric.Namespace === 'AWS/DynamoDB',
  );
  const isIgnored = TreatMissingData === 'ignore' || isOfDynamoDb;
  return isIgnored && breaching.length === real.length ? state : 'OK';
}

/** Values of an expression's metrics in a period, by the metrics' ids. The value is null if the metric has no data. */
type Values = Record<string, number | null>;

/**
 * Returns a function that computes an expression's value, or null if CloudWatch computes none. Supports only the
 * expressions that the alarms use. In arithmetic, CloudWatch treats missing data as zero, unless all data of a period
 * are missing. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function parse(expression: string): (values: Values) => number | null {
  const share = /^IF\(total, part - ([\d.]+) \* total\)$/.exec(expression)?.[1];
  if (share !== undefined) return ({ part, total }) => (total ? (part ?? 0) - Number(share) * total : null);

  const [, one, factor, other] = /^(\w+) - ([\d.]+) \* (\w+)$/.exec(expression) ?? [];
  if (one && other)
    return ({ [one]: left = null, [other]: right = null }) =>
      left === null && right === null ? null : (left ?? 0) - Number(factor) * (right ?? 0);

  const filled = Array.from(expression.matchAll(/FILL\((\w+), 0\)/g), ([, id]) => id!);
  if (expression === `SUM([${filled.map((id) => `FILL(${id}, 0)`).join(', ')}])`)
    return (values) => sum(filled.map((id) => values[id] ?? 0));

  throw new Error(`Implement the expression ${expression} in test/infra/stack/cloudwatch.ts.`);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns an alarm's metric queries. For an alarm on a single metric, returns the equivalent query. */
export function queriesOf(alarm: any): any[] {
  const { Metrics, Period, Statistic, ExtendedStatistic } = alarm;
  const own = { Id: 'own', MetricStat: { Metric: alarm, Period, Stat: Statistic ?? ExtendedStatistic } };
  return Metrics?.filter(({ MetricStat }: any) => MetricStat) ?? [own];
}

/**
 * Returns an alarm's period in minutes, the names of its metrics, and a function that computes the alarm's value for a
 * period from the period's datapoints.
 */
function mathOf(alarm: any) {
  const queries = queriesOf(alarm).map(({ Id, MetricStat: { Metric, Period, Stat } }) => {
    const dimensions = Metric.Dimensions.map(({ Name, Value }: any) => [Name, Value]);
    const name = metricOf(Metric.Namespace, Metric.MetricName, Object.fromEntries(dimensions));
    return { Id, name, Period, Stat };
  });
  const math = alarm.Metrics?.find(({ Expression }: any) => Expression);
  const compute = math ? parse(math.Expression) : (values: Values) => values[queries[0]!.Id]!;
  const valueOf = (datapoints: Datapoint[]): number | null => {
    const values: Values = Object.fromEntries(
      queries.map(({ Id, name, Stat }) => {
        const found = datapoints.filter(({ metric }) => metric === name).map(({ value }) => value);
        if (found.length === 0) return [Id, null];
        return [Id, Stat === 'Sum' ? sum(found) : Math.max(...found)];
      }),
    );
    return compute(values);
  };
  const watched = new Set(queries.map(({ name }) => name));
  return { period: queries[0]!.Period / 60, watched, valueOf };
}

/** A metric's value in one minute. */
export type Count = [minute: number, metric: string, value: number];

/** Returns the values that Lambda emits in minute 2 for a metric of invocations of version 7 through the alias `live`. */
export function lambdaCounts(metric: string, name: string, value: number) {
  const ofFunction = { FunctionName: `\${${name}}` };
  const ofAlias = { ...ofFunction, Resource: `\${${name}}:live` };
  const sets = [ofFunction, ofAlias, { ...ofAlias, ExecutedVersion: '7' }];
  return sets.map((dimensions): Count => [2, metricOf('AWS/Lambda', metric, dimensions), value]);
}

/** Returns the values that API Gateway, CloudWatch Logs and metric filters emit in minute 2 for requests with this `$context`. */
export function requestCounts(
  template: ReadableTemplate,
  count: number,
  context: { status: string; [variable: string]: string },
): Count[] {
  const [{ StageName: Stage, AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  const names = ['Count', ...(/^[45]/.test(context.status) ? [`${context.status[0]}XXError`] : [])];
  const ofApi = names.map((name) => metricOf('AWS/ApiGateway', name, { ApiName: serviceName(Stage), Stage }));
  // API Gateway logs a missing value as a dash.
  const text = AccessLogSetting.Format.replaceAll(
    /\$context\.([\w.]+)/g,
    (_: string, variable: string) => context[variable] ?? '-',
  );
  const line: Record<string, string> = JSON.parse(text);
  const filters = propertiesOf(template, 'AWS::Logs::MetricFilter').filter(({ FilterPattern }) =>
    isMatch(FilterPattern, line),
  );
  const ofLog = filters.map(({ MetricTransformations: [{ MetricNamespace, MetricName, Dimensions }] }) => {
    const dimensions = Dimensions.map(({ Key, Value }: any) => [Key, line[Value.slice('$.'.length)]]);
    return metricOf(MetricNamespace, MetricName, Object.fromEntries(dimensions));
  });
  return [...ofApi, loggedRequests(template), ...ofLog].map((metric) => [2, metric, count]);
}

/** Returns the metric with the number of lines that API Gateway writes to the access log. */
export function loggedRequests(template: ReadableTemplate): string {
  const [{ AccessLogSetting }] = propertiesOf(template, 'AWS::ApiGateway::Stage');
  return metricOf('AWS/Logs', 'IncomingLogEvents', {
    LogGroupName: AccessLogSetting.DestinationArn.split(':').at(-1),
  });
}

/**
 * Returns whether a line matches a filter pattern. Supports alternatives of comparisons, such as
 * `{ ($.a = "1") || (($.b != "-") && ($.c = "4*")) }`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
function isMatch(pattern: string, line: Record<string, string>): boolean {
  return pattern.split(' || ').some((alternative) => {
    if (alternative.split('(').length !== alternative.split(')').length)
      throw new Error(`Implement the filter pattern ${pattern} in test/infra/stack/cloudwatch.ts.`);
    return alternative.split(' && ').every((comparison) => {
      const [, field, operator, text, wildcard] = /\$\.(\w+) (!?=) "([\w-]*)(\*?)"/.exec(comparison)!;
      const value = line[field!]!;
      const isEqual = wildcard ? value.startsWith(text!) : value === text;
      return isEqual === (operator === '=');
    });
  });
}
