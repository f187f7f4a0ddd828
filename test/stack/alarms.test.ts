import { expect, test } from '@jest/globals';
import { pascalCase } from '../../shared/names.ts';
import { collections } from '../../shared/contract/operations.ts';
import {
  functionNames,
  type ReadableTemplate,
  readableTemplate,
  resourcesOf,
  watchedBy,
} from '../support/stack-template.ts';

/** Whom an alarm tells, and the condition under which it fires. */
type Alarm = [tells: 'wakes' | 'mails' | 'tells nobody', condition: string];

const alarms: Record<string, Alarm> = {
  ApiServerErrors: ['wakes', 'IF(Count, 5XXError - 0.001 * Count) >= 5 in 1 of 5 periods of 1 min'],
  ApiServerErrorShare: ['wakes', 'IF(Count, 5XXError - 0.01 * Count) >= 2 in 1 of 2 periods of 15 min'],
  AuthorizerErrors: ['wakes', 'Errors >= 3 in 1 of 2 periods of 5 min'],
  ApiLatency: ['mails', 'p99 of Latency >= 2000 in 3 of 4 periods of 5 min'],
  ApiRejectedRequests: [
    'mails',
    'IF(ActiveKeyRequests, RejectedRequests - 0.5 * ActiveKeyRequests) >= 5 in 3 of 7 periods of 1 min',
  ],
  MissingAccessLog: ['mails', 'Count - 2 * IncomingLogEvents >= 3 in 3 of 4 periods of 5 min'],
};
const tables = [...collections.map(({ plural }) => pascalCase(plural)), 'IdempotencyRecords', 'ApiKeys'];
const throttles: Alarm = ['mails', 'throttles >= 1 in 2 of 3 periods of 5 min'];
const blocks: Alarm = ['mails', 'BlockedRequests - 9 * AllowedRequests >= 50 in 2 of 3 periods of 5 min'];
const newVersion = (name: string): Alarm => [
  'tells nobody',
  `${name === 'Authorizer' ? 'Errors' : 'SUM([FILL(Errors, 0), FILL(VersionErrors, 0)])'} >= 3 in 1 of 5 periods of 1 min`,
];

const template = readableTemplate('production');
const inProduction = alarmsIn(template);

test('exactly these alarms exist', () => {
  const ofBoth = {
    ...alarms,
    ...Object.fromEntries(tables.map((table) => [`${table}Throttles`, throttles])),
  };
  expect(conditionsOf(inProduction)).toEqual({
    ...ofBoth,
    FirewallBlocks: blocks,
    ...Object.fromEntries(functionNames.map((name) => [`${name}NewVersion`, newVersion(name)])),
  });
  // Staging's firewall only counts, so it lets through the large bodies with which clients cause 5xx responses.
  expect(conditionsOf(alarmsIn(readableTemplate('staging')))).toEqual(
    JSON.parse(JSON.stringify(ofBoth).replaceAll('5XXError', 'ServerErrors')),
  );
});

test('every alarm names its section, tells the same people about its end, and does not fire without data', () => {
  const found = inProduction.map(
    ({ name, AlarmDescription, AlarmActions, OKActions, ActionsEnabled = true, TreatMissingData }) => [
      name,
      /^[A-Z][^"]+\. See docs\/oncall\.md, "[^"]+"\.$/.test(AlarmDescription),
      JSON.stringify(OKActions) === JSON.stringify(AlarmActions) && ActionsEnabled,
      TreatMissingData,
    ],
  );
  expect(found).toEqual(inProduction.map(({ name }) => [name, true, true, 'notBreaching']));
});

test('an alarm about throttles counts those of the table and its indexes', () => {
  for (const [id, { Properties }] of resourcesOf(template, 'AWS::DynamoDB::GlobalTable')) {
    const indexes = (Properties['GlobalSecondaryIndexes'] ?? []).map(({ IndexName }: any) => IndexName);
    const alarm = template.Resources[`Monitoring${id.replace('Storage', '')}Throttles`].Properties;
    const counted = watchedBy(alarm).map(({ MetricName, Dimensions }: any) =>
      [MetricName, ...Dimensions.map(({ Value }: any) => Value)].join(' '),
    );
    const events = ['ReadThrottleEvents', 'WriteThrottleEvents'];
    const expected = events.flatMap((event) => [
      `${event} \${${id}}`,
      ...indexes.map((index: string) => `${event} ${index} \${${id}}`),
    ]);
    expect(new Set(counted)).toEqual(new Set(expected));
  }
});

test('the dashboard shows every alarm', () => {
  const [widget] = JSON.parse(template.Resources.Dashboard.Properties.DashboardBody).widgets;
  const arns = inProduction.map(({ name }) => `\${Monitoring${name}.Arn}`);
  expect(widget.properties.alarms.toSorted()).toEqual(arns.toSorted());
});

/** Returns the alarms of a template, with the names of their constructs. */
function alarmsIn(one: ReadableTemplate): any[] {
  return resourcesOf(one, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
    name: id.replace('Monitoring', ''),
    ...Properties,
  }));
}

function conditionsOf(all: any[]): Record<string, Alarm> {
  return Object.fromEntries(all.map((alarm) => [alarm.name, [tells(alarm), conditionOf(alarm)]]));
}

function tells({ AlarmActions = [] }: any): Alarm[0] {
  const topics: Record<string, Alarm[0]> = {
    '${MonitoringAlarmTopic}': 'wakes',
    '${MonitoringNoticeTopic}': 'mails',
  };
  return topics[AlarmActions.join()] ?? 'tells nobody';
}

/** Returns the condition of an alarm in the form of the table above. */
function conditionOf(alarm: any): string {
  const { Threshold, DatapointsToAlarm, EvaluationPeriods, ComparisonOperator, Metrics = [] } = alarm;
  expect(ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
  const watched = Metrics.filter(({ MetricStat }: any) => MetricStat);
  const statistics = new Set(watched.map(({ MetricStat }: any) => MetricStat.Stat));
  expect(alarm.Statistic ?? alarm.ExtendedStatistic ?? [...statistics].join()).toMatch(/^Sum$|^p99$/);
  const { MetricName, ExtendedStatistic } = alarm;
  let value = ExtendedStatistic ? `${ExtendedStatistic} of ${MetricName}` : MetricName;
  for (const { Expression } of Metrics) value ??= Expression;
  for (const { Id, MetricStat } of watched) value = value.replaceAll(Id, MetricStat.Metric.MetricName);
  // The test of throttles checks these metrics.
  if (/^SUM\(\[FILL\((?:Read|Write)Throttle/.test(value)) value = 'throttles';
  const seconds = alarm.Period ?? watched[0].MetricStat.Period;
  return `${value} >= ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods} periods of ${seconds / 60} min`;
}
