import { describe, expect, test } from '@jest/globals';
import {
  type AlarmState,
  type Count,
  type Evaluation,
  lambdaCounts,
  metricOf,
  requestCounts,
  nextState,
  statesOf,
} from './cloudwatch.ts';
import { metricNamespace, metrics, serviceName } from '../../../shared/names.ts';
import type { StageName } from '../../support/stages.ts';
import {
  functionNames,
  propertiesOf,
  readableTemplate,
  resourcesOf,
  stageNames,
} from '../../support/stack-template.ts';

interface Conditions extends Evaluation {
  /** Minutes between the end of a minute and the arrival of its data, for AWS metrics and for metrics from logs. */
  delays: [awsMetrics: number, logMetrics: number];
}

const templates = { staging: readableTemplate('staging'), production: readableTemplate('production') };
const evaluations = [0, 2].flatMap((extraPeriods) =>
  [false, true].map((isClockAligned) => ({ minutes: 45, extraPeriods, isClockAligned })),
);
const allConditions = [1, 2, 3].flatMap((awsMetrics) =>
  [1, 2, 3].flatMap((logMetrics) =>
    evaluations.map((evaluation): Conditions => ({ ...evaluation, delays: [awsMetrics, logMetrics] })),
  ),
);

// AWS documents these examples in "How alarm state is evaluated when data is missing". The oldest datapoint is first.
test.each<[string, datapointsToAlarm: number, ignore: AlarmState | 'retained', notBreaching: AlarmState]>([
  ['0 - X - X', 3, 'OK', 'OK'],
  ['- - - - -', 3, 'retained', 'OK'],
  ['0 X X - X', 3, 'ALARM', 'ALARM'],
  ['- - X - -', 3, 'retained', 'OK'],
  ['0 - X - X', 2, 'ALARM', 'ALARM'],
  ['0 - X - -', 2, 'OK', 'OK'],
])(
  'the simulated CloudWatch evaluates %s with %d of 3 datapoints to alarm as documented',
  (data, DatapointsToAlarm, ...expected) => {
    const values = data.split(' ').map((value) => ({ '0': 0, X: 1 })[value] ?? null);
    const states = ['ignore', 'notBreaching'].map((TreatMissingData) => {
      const alarm = { EvaluationPeriods: 3, DatapointsToAlarm, Threshold: 1, TreatMissingData };
      const stateAfter = (state: AlarmState) => nextState(alarm, values.toReversed(), state);
      return stateAfter('OK') === stateAfter('ALARM') ? stateAfter('OK') : 'retained';
    });
    expect(states).toEqual(expected);
  },
);

describe.each(stageNames)('in %s', (stage) => {
  const alarms = resourcesOf(templates[stage], 'AWS::CloudWatch::Alarm').map(([name]) =>
    name.slice('Monitoring'.length),
  );
  const cases = [
    ...apiCases(stage),
    ...functionNames.flatMap((name) => functionCases(stage, name)),
    ...tableCases(stage),
  ];

  test.each(alarms)('%s notifies the topic of each change between OK and ALARM', (name) => {
    const { Properties } = templates[stage].Resources[`Monitoring${name}`];
    expect(Properties).toMatchObject({
      AlarmDescription: expect.stringMatching(/^[A-Z][^"]+\. See docs\/runbook\.md, "[^"]+"\.$/),
      AlarmActions: ['${MonitoringAlarmTopic}'],
      OKActions: ['${MonitoringAlarmTopic}'],
    });
    expect(Properties.ActionsEnabled ?? true).toBe(true);
  });

  test('the dashboard shows every alarm', () => {
    const [widget] = JSON.parse(templates[stage].Resources.Dashboard.Properties.DashboardBody).widgets;
    const arns = alarms.map((name) => `\${Monitoring${name}.Arn}`);
    expect(widget.properties.alarms.toSorted()).toEqual(arns.toSorted());
  });

  test('every alarm has a test case', () => {
    const untested = alarms.filter((alarm) => !cases.some(([name]) => name === alarm));
    expect(untested.map((name) => `Add a case for ${name} to test/infra/stack/alarms.test.ts.`)).toEqual([]);
  });

  test.each(cases.filter(([name]) => alarms.includes(name)))(
    '%s fires within 5 minutes on %s and then returns to OK',
    (name, _what, firing, notFiring) => {
      const last = Math.max(...firing.map(([minute]) => minute));
      for (const conditions of allConditions) {
        const states = statesIn(stage, name, firing, conditions);
        const others = [notFiring, []].flatMap((counts) => statesIn(stage, name, counts, conditions));
        const faults = [
          !states.slice(0, last + 5).includes('ALARM') && 'does not fire. Correct the alarm or its case',
          states.at(-1) !== 'OK' &&
            'stays active without data. Write its metrics as FILL(metric, 0) where infra/stack adds the alarm',
          others.includes('ALARM') && 'fires too early. Correct the alarm or its case',
        ].filter(Boolean);
        expect(faults.map((fault) => `${name} ${fault} (${JSON.stringify(conditions)}).`)).toEqual([]);
      }
    },
  );
});

test.each(functionNames)('a single early error rolls back a canary of %s', (name) => {
  const { Resources } = templates.production;
  const { DeploymentConfigName, AlarmConfiguration } = Resources[`${name}Deployment`].Properties;
  const minutes = Number(/Canary10Percent(\d+)Minutes$/.exec(DeploymentConfigName)![1]);
  const watched = JSON.stringify(AlarmConfiguration);
  for (const [alarm, , errors] of functionCases('production', name)) {
    if (!watched.includes(`{Monitoring${alarm}}`)) continue;
    for (let shift = -2; shift + 2 <= minutes / 2; shift += 1) {
      const counts = errors.map(([minute, ...count]): Count => [minute + shift, ...count]);
      for (const conditions of allConditions)
        expect(statesIn('production', alarm, counts, { ...conditions, minutes })).toContain('ALARM');
    }
  }
});

type Case = [alarm: string, what: string, firing: Count[], notFiring: Count[]];

function apiCases(stage: StageName): Case[] {
  const errors = (count: number) => [
    ...requestCounts(templates[stage], 1_000, { status: '200' }),
    ...requestCounts(templates[stage], 2, { status: '503', 'error.responseType': 'AUTHORIZER_FAILURE' }),
    ...requestCounts(templates[stage], count - 2, { status: '503', integrationStatus: '200' }),
  ];
  // Without a firewall, API Gateway accepts bodies that Lambda rejects. These errors must not fire the alarm.
  const hasFirewall = propertiesOf(templates[stage], 'AWS::WAFv2::WebACL').length > 0;
  const lambdaRejects = { status: '502', integrationStatus: '413' };
  const tooLarge = hasFirewall ? [] : requestCounts(templates[stage], 100, lambdaRejects);
  const latency = metricOf('AWS/ApiGateway', 'Latency', { ApiName: serviceName(stage), Stage: stage });
  const slow = [2, 7, 12].map((minute): Count => [minute, latency, 2_000]);
  return [
    ['ApiServerErrors', '7 errors in 1,000 requests', errors(7), [...errors(6), ...tooLarge]],
    ['ApiLatency', 'slow responses for 15 minutes', slow, [...slow.slice(1), [17, latency, 1_999]]],
  ];
}

function functionCases(stage: StageName, name: string): Case[] {
  const [newVersion, oldVersion] = [`\${${name}CurrentVersion.Version}`, '7'];
  const quiet = [0, 3, 8, 13].flatMap((minute) =>
    [newVersion, oldVersion].flatMap((version) => lambdaCounts('Errors', name, version, [minute], 0)),
  );
  const crashes = (version: string, ...minutes: number[]) => [
    ...quiet,
    ...lambdaCounts('Errors', name, version, minutes, 1),
  ];
  const operation = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  const internalErrors = (version: string): Count[] => {
    const { POWERTOOLS_SERVICE_NAME: service } =
      templates[stage].Resources[name].Properties.Environment.Variables;
    const dimensions = { service, operation, version };
    return [...quiet, [2, metricOf(metricNamespace, metrics.internalErrors.name, dimensions), 1]];
  };
  const ofOldVersion = [...crashes(oldVersion, 2), ...internalErrors(oldVersion)];
  const throttle = lambdaCounts('Throttles', name, oldVersion, [2], 1);
  return [
    [`${name}Errors`, 'three crashes', crashes(oldVersion, 2, 3, 4), crashes(oldVersion, 2, 4)],
    [`${name}Throttles`, 'a throttled invocation', throttle, quiet],
    [`${name}NewVersionErrors`, 'a crash of the new version', crashes(newVersion, 2), ofOldVersion],
    [`${name}NewVersionInternalErrors`, 'an internal_error', internalErrors(newVersion), ofOldVersion],
  ];
}

function tableCases(stage: StageName): Case[] {
  const tables = resourcesOf(templates[stage], 'AWS::DynamoDB::GlobalTable');
  return tables.flatMap(([name, { Properties }]) => {
    const table = { TableName: `\${${name}}` };
    const indexes: any[] = Properties['GlobalSecondaryIndexes'] ?? [];
    const ofIndexes = indexes.map(({ IndexName }) => ({ ...table, GlobalSecondaryIndexName: IndexName }));
    return [table, ...ofIndexes].flatMap((target) =>
      ['ReadThrottleEvents', 'WriteThrottleEvents'].map((event): Case => {
        const metric = metricOf('AWS/DynamoDB', event, target);
        return [`${name.slice('Storage'.length)}Throttles`, metric, [[2, metric, 1]], [[2, metric, 0]]];
      }),
    );
  });
}

function statesIn(stage: StageName, name: string, counts: Count[], conditions: Conditions): AlarmState[] {
  const datapoints = counts.map(([minute, metric, value]) => {
    const delay = conditions.delays[metric.startsWith(metricNamespace) ? 1 : 0];
    return { metric, minute, value, arrival: minute + 1 + delay };
  });
  const alarm = templates[stage].Resources[`Monitoring${name}`].Properties;
  return statesOf(alarm, datapoints, conditions);
}
