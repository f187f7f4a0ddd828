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
  const api = `ApiName=pet-store-${stage} Stage=${stage}`;
  const throttles = resourcesOf(template, 'AWS::DynamoDB::GlobalTable').map(([name, { Properties }]) => {
    const indexes: any[] = Properties['GlobalSecondaryIndexes'] ?? [];
    const ofIndexes = indexes.map(({ IndexName }) => `GlobalSecondaryIndexName=${IndexName} `);
    const metrics = ['', ...ofIndexes].flatMap((ofIndex) => [
      `AWS/DynamoDB ReadThrottleEvents ${ofIndex}TableName=\${${name}} Sum 300`,
      `AWS/DynamoDB WriteThrottleEvents ${ofIndex}TableName=\${${name}} Sum 300`,
    ]);
    // Also while some of them have no data, which CloudWatch would otherwise wait for.
    const sum = `SUM([${metrics.map(() => 'FILL').join(', ')}])`;
    return [`${name.slice('Storage'.length)}Throttles`, `1 × ${sum} >= 1`, ...metrics];
  });

  test.each([
    [
      'ApiServerErrors',
      '1 × errors - requests / 1000 >= 5',
      `AWS/ApiGateway 5XXError ${api} Sum 60`,
      `AWS/ApiGateway Count ${api} Sum 60`,
    ],
    ['ApiLatency', '3 × it >= 2000', `AWS/ApiGateway Latency ${api} p99 300`],
    ...functionNames.flatMap((name) => [
      [`${name}Errors`, '1 × it >= 3', `AWS/Lambda Errors FunctionName=\${${name}} Sum 300`],
      [`${name}Throttles`, '1 × it >= 1', `AWS/Lambda Throttles FunctionName=\${${name}} Sum 300`],
    ]),
    ...throttles,
  ])('%s fires when %s', (name, ...conditions) => {
    expect(conditionsOf(template, name)).toEqual(conditions);
  });
});

test.each(functionNames)(
  'an alarm counts what the newest version of %s in production, and no other, did wrong',
  (name) => {
    const version = `\${${name}CurrentVersion.Version}`;
    const operation = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    expect(conditionsOf(readableTemplate('production'), `${name}NewVersionErrors`)).toEqual([
      '1 × SUM([FILL, FILL]) >= 1',
      `AWS/Lambda Errors ExecutedVersion=${version} FunctionName=\${${name}} Resource=\${${name}}:live Sum 60`,
      // What the code threw becomes a response, which is no error to Lambda.
      `PetStore InternalErrors operation=${operation} service=pet-store-production version=${version} Sum 60`,
    ]);
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

/** @returns when an alarm fires: periods, expression and threshold; then its metrics with dimensions, statistic and seconds. */
function conditionsOf(template: ReadableTemplate, name: string): string[] {
  const alarm = template.Resources[`Monitoring${name}`].Properties;
  const { Period, Statistic, ExtendedStatistic, EvaluationPeriods, Threshold } = alarm;
  const own = { Metric: alarm, Period, Stat: Statistic ?? ExtendedStatistic };
  const queries: any[] = alarm.Metrics ?? [{ MetricStat: own }];
  const expression = queries.find(({ Expression }) => Expression)?.Expression ?? 'it';
  const metrics = queries.flatMap(({ MetricStat = [] }) => MetricStat);
  return [
    `${EvaluationPeriods} × ${expression.replaceAll(/FILL\(\w+, 0\)/g, 'FILL')} >= ${Threshold}`,
    ...metrics.map(({ Metric: { Namespace, MetricName, Dimensions }, Period: seconds, Stat }) => {
      const dimensions = Dimensions.map(({ Name, Value }: any) => `${Name}=${Value}`);
      return `${Namespace} ${MetricName} ${dimensions.join(' ')} ${Stat} ${seconds}`;
    }),
  ];
}
