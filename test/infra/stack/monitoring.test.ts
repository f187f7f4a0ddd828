import { describe, expect, test } from '@jest/globals';
import {
  functionNames,
  propertiesOf,
  type ReadableTemplate,
  readableTemplate,
  resourcesOf,
  stageNames,
} from '../../support/stack-template.ts';

describe.each(stageNames)('the alarms of %s', (stage) => {
  const template = readableTemplate(stage);
  const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm');

  test.each(alarms)(
    '%s notifies the topic of its beginning and its end, and ignores missing data',
    (_name, alarm) => {
      expect(alarm.Properties).toMatchObject({
        AlarmDescription: expect.stringMatching(/^[A-Z][^"]+\. See docs\/runbook\.md, "[^"]+"\.$/),
        AlarmActions: ['${MonitoringAlarmTopic}'],
        OKActions: ['${MonitoringAlarmTopic}'],
        TreatMissingData: 'notBreaching',
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      });
      expect(alarm.Properties['ActionsEnabled'] ?? true).toBe(true);
    },
  );

  // CloudFormation accepts any expression; CloudWatch then rejects the alarm in the middle of a deployment.
  test.each(alarms)('%s calculates with all of its own metrics, and no others', (_name, { Properties }) => {
    const queries: any[] = Properties['Metrics'] ?? [];
    const ids = queries.filter(({ MetricStat }) => MetricStat).map(({ Id }) => Id as string);
    const results = queries.filter(({ ReturnData }) => ReturnData !== false);
    expect(results).toHaveLength(queries.length > 0 ? 1 : 0);
    for (const { Expression } of results) {
      expect(Expression.match(/\b[a-z]\w*/g).toSorted()).toEqual(ids.toSorted());
    }
  });

  // By its name, which is a literal: see `apiMetrics`.
  const ofApi = { ApiName: `pet-store-${stage}`, Stage: stage };

  test('count the 5xx of this API and stage beyond one in a thousand', () => {
    expect(watchedBy(template, 'ApiServerErrors')).toEqual({
      expression: 'errors - requests / 1000',
      metrics: [
        ['AWS/ApiGateway 5XXError', ofApi, 'Sum', 60],
        ['AWS/ApiGateway Count', ofApi, 'Sum', 60],
      ],
      threshold: 5,
      periods: 1,
    });
  });

  test('measure the slowest hundredth of responses over fifteen minutes', () => {
    expect(watchedBy(template, 'ApiLatency')).toEqual({
      metrics: [['AWS/ApiGateway Latency', ofApi, 'p99', 300]],
      threshold: 2_000,
      periods: 3,
    });
  });

  test.each(functionNames)('count errors and throttles of %s in five minutes', (name) => {
    const dimensions = { FunctionName: `\${${name}}` };
    expect(watchedBy(template, `${name}Errors`)).toEqual({
      metrics: [['AWS/Lambda Errors', dimensions, 'Sum', 300]],
      threshold: 3,
      periods: 1,
    });
    expect(watchedBy(template, `${name}Throttles`)).toEqual({
      metrics: [['AWS/Lambda Throttles', dimensions, 'Sum', 300]],
      threshold: 1,
      periods: 1,
    });
  });

  // Also while some of them have no data, which CloudWatch would otherwise wait for.
  test.each(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'))(
    'fire at the first throttled read or write of %s or one of its indexes',
    (name, { Properties }) => {
      const TableName = `\${${name}}`;
      const indexes: any[] = Properties['GlobalSecondaryIndexes'] ?? [];
      const targets = [
        { TableName },
        ...indexes.map(({ IndexName }) => ({ TableName, GlobalSecondaryIndexName: IndexName })),
      ];
      expect(watchedBy(template, `${name.slice('Storage'.length)}Throttles`)).toEqual({
        expression: expect.stringMatching(/^SUM\(\[FILL\(\w+, 0\)(, FILL\(\w+, 0\))*\]\)$/),
        metrics: targets.flatMap((target) =>
          ['Read', 'Write'].map((kind) => [`AWS/DynamoDB ${kind}ThrottleEvents`, target, 'Sum', 300]),
        ),
        threshold: 1,
        periods: 1,
      });
    },
  );
});

test.each(functionNames)(
  'an alarm counts what the newest version of %s in production, and no other, did wrong',
  (name) => {
    const version = `\${${name}CurrentVersion.Version}`;
    const ofVersion = { FunctionName: `\${${name}}`, Resource: `\${${name}}:live`, ExecutedVersion: version };
    const operation = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    expect(watchedBy(readableTemplate('production'), `${name}NewVersionErrors`)).toEqual({
      expression: 'SUM([FILL(crashes, 0), FILL(faults, 0)])',
      metrics: [
        ['AWS/Lambda Errors', ofVersion, 'Sum', 60],
        // What the code threw becomes a response, which is no error to Lambda.
        ['PetStore InternalErrors', { service: 'pet-store-production', operation, version }, 'Sum', 60],
      ],
      threshold: 1,
      periods: 1,
    });
  },
);

test.each(stageNames)(
  'the only topic of %s accepts alarms of this account and region, and nothing without TLS',
  (stage) => {
    const template = readableTemplate(stage);
    expect(propertiesOf(template, 'AWS::SNS::Topic')).toHaveLength(1);
    const publish = { Sid: expect.any(String), Action: 'sns:Publish', Resource: '${MonitoringAlarmTopic}' };
    const alarmArns = 'arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*';
    expect(propertiesOf(template, 'AWS::SNS::TopicPolicy')).toMatchObject([
      {
        Topics: ['${MonitoringAlarmTopic}'],
        PolicyDocument: {
          Statement: [
            {
              ...publish,
              Effect: 'Deny',
              Principal: '*',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            },
            {
              ...publish,
              Effect: 'Allow',
              Principal: { Service: 'cloudwatch.amazonaws.com' },
              Condition: { ArnLike: { 'aws:SourceArn': alarmArns } },
            },
          ],
        },
      },
    ]);
  },
);

/** @returns the metrics of an alarm, the only one or those that it calculates with, and when it fires. */
function watchedBy(template: ReadableTemplate, name: string): object {
  const alarm = template.Resources[`Monitoring${name}`].Properties;
  const { Metrics, Period, Statistic, ExtendedStatistic } = alarm;
  const own = { Metric: alarm, Period, Stat: Statistic ?? ExtendedStatistic };
  const queries: any[] = Metrics ?? [{ MetricStat: own }];
  const expression = queries.find(({ Expression }) => Expression)?.Expression;
  return {
    ...(expression && { expression }),
    metrics: queries
      .flatMap(({ MetricStat = [] }) => MetricStat)
      .map(({ Metric: { Namespace, MetricName, Dimensions }, Period: seconds, Stat }) => [
        `${Namespace} ${MetricName}`,
        Object.fromEntries(Dimensions.map(({ Name, Value }: any) => [Name, Value])),
        Stat,
        seconds,
      ]),
    threshold: alarm.Threshold,
    periods: alarm.EvaluationPeriods,
  };
}
