import { describe, expect, test } from '@jest/globals';
import { metricNamespace } from '../../../shared/names.ts';
import type { StageName } from '../../support/stages.ts';
import { functionNames, resourcesOf, stageNames } from '../../support/stack-template.ts';
import { apiCases, functionCases, scenarios, tableCases, templates } from './alarm-cases.ts';
import { type AlarmState, type Count, type Evaluation, nextState, statesOf } from './cloudwatch.ts';

interface Conditions extends Evaluation {
  /** Minutes from the end of a minute to the arrival of its datapoints, for AWS's metrics and for metrics from logs. */
  delays: [awsMetrics: number, logMetrics: number];
}

const evaluations = [0, 2].flatMap((extraPeriods) =>
  [false, true].map((isClockAligned) => ({ minutes: 75, extraPeriods, isClockAligned })),
);
const allConditions = [1, 2, 3].flatMap((awsMetrics) =>
  [1, 2, 3].flatMap((logMetrics) =>
    evaluations.map((evaluation): Conditions => ({ ...evaluation, delays: [awsMetrics, logMetrics] })),
  ),
);

// AWS documents these examples in "How alarm state is evaluated when data is missing". The oldest datapoint is first.
// `X` breaches the threshold, `0` does not, and `-` is a missing datapoint.
test.each<[string, datapointsToAlarm: number, ignore: AlarmState | 'retained', notBreaching: AlarmState]>([
  ['0 - X - X', 3, 'OK', 'OK'],
  ['- - - - -', 3, 'retained', 'OK'],
  ['0 X X - X', 3, 'ALARM', 'ALARM'],
  ['- - X - -', 3, 'retained', 'OK'],
  ['0 - X - X', 2, 'ALARM', 'ALARM'],
  ['0 - X - -', 2, 'OK', 'OK'],
])(
  'the simulated CloudWatch evaluates %s as documented if DatapointsToAlarm is %d',
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

describe.each(stageNames)('in %s,', (stage) => {
  const alarms = resourcesOf(templates[stage], 'AWS::CloudWatch::Alarm').map(([name]) =>
    name.slice('Monitoring'.length),
  );
  const cases = [
    ...apiCases(stage),
    ...functionNames.flatMap((name) => functionCases(stage, name)),
    ...tableCases(stage),
  ];

  test.each(alarms)(
    '%s names its chapter of the runbook, and has the same actions for ALARM and for OK',
    (name) => {
      const { Properties } = templates[stage].Resources[`Monitoring${name}`];
      const { AlarmDescription, AlarmActions, OKActions, ActionsEnabled = true } = Properties;
      expect(AlarmDescription).toMatch(/^[A-Z][^"]+\. See docs\/runbook\.md, "[^"]+"\.$/);
      expect([OKActions, ActionsEnabled]).toEqual([AlarmActions, true]);
    },
  );

  test('only server errors, errors of the authorizer and lost keys wake somebody', () => {
    const waking = ['ApiServerErrorShare', 'ApiServerErrors', 'AuthorizerErrors', 'AuthorizerLostKeys'];
    expect(alarms.filter((name) => urgencyOf(stage, name) === 'wakes').toSorted()).toEqual(waking);
    const silent = alarms.filter((name) => urgencyOf(stage, name) === 'gates');
    expect(silent).toEqual(['ReleaseServerErrors']);
  });

  test.each(scenarios(stage))(
    'if %s for an hour, exactly the expected alarms fire',
    (_what, counts, expected) => {
      for (const conditions of allConditions) {
        const firing = alarms.filter((name) => statesIn(stage, name, counts, conditions).includes('ALARM'));
        const named = (urgency: string) =>
          firing.filter((name) => urgencyOf(stage, name) === urgency).toSorted();
        expect({ wakes: named('wakes'), mails: named('mails'), gates: named('gates') }).toEqual(expected);
      }
    },
  );

  test('the dashboard shows every alarm', () => {
    const [widget] = JSON.parse(templates[stage].Resources.Dashboard.Properties.DashboardBody).widgets;
    const arns = alarms.map((name) => `\${Monitoring${name}.Arn}`);
    expect(widget.properties.alarms.toSorted()).toEqual(arns.toSorted());
  });

  test('every alarm has a test case, and every test case has an alarm', () => {
    const inCases = new Set(cases.map(([name]) => name));
    const untested = new Set(alarms).difference(inCases);
    const missing = inCases.difference(new Set(alarms));
    const inFile = 'test/infra/stack/alarm-cases.ts';
    expect([
      ...[...untested].map((name) => `Add a case for the alarm ${name} to ${inFile}.`),
      ...[...missing].map(
        (name) => `Add the alarm ${name} to infra/stack, or remove its case from ${inFile}.`,
      ),
    ]).toEqual([]);
  });

  test.each(cases)(
    '%s fires within 5 minutes after %s, and then returns to OK',
    (name, _what, firing, notFiring) => {
      const last = Math.max(...firing.map(([minute]) => minute));
      for (const conditions of allConditions) {
        const states = statesIn(stage, name, firing, conditions);
        const others = [notFiring, []].flatMap((counts) => statesIn(stage, name, counts, conditions));
        const faults = [
          !states.slice(0, last + 5).includes('ALARM') && 'does not fire. Correct the alarm or its case',
          states.at(-1) !== 'OK' &&
            'stays active without data. Write its metrics as FILL(metric, 0) where infra/stack adds the alarm',
          others.includes('ALARM') && 'fires on values that must not fire it. Correct the alarm or its case',
        ].filter(Boolean);
        expect(faults.map((fault) => `${name} ${fault} (${JSON.stringify(conditions)}).`)).toEqual([]);
      }
    },
  );
});

/** Returns whether an alarm wakes somebody, sends a mail, or only gates updates of the stack. */
function urgencyOf(stage: StageName, name: string): string {
  const { AlarmActions = [] } = templates[stage].Resources[`Monitoring${name}`].Properties;
  const urgencies = { '${MonitoringAlarmTopic}': 'wakes', '${MonitoringNoticeTopic}': 'mails' };
  return AlarmActions.length === 0 ? 'gates' : urgencies[AlarmActions.join() as keyof typeof urgencies];
}

function statesIn(stage: StageName, name: string, counts: Count[], conditions: Conditions): AlarmState[] {
  const datapoints = counts.map(([minute, metric, value]) => {
    const delay = conditions.delays[metric.startsWith(metricNamespace) ? 1 : 0];
    return { metric, minute, value, arrival: minute + 1 + delay };
  });
  const alarm = templates[stage].Resources[`Monitoring${name}`].Properties;
  return statesOf(alarm, datapoints, conditions);
}
