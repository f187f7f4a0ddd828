import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { changedTemplate } from '../../support/changed-stack.ts';
import { asText, resourceOf, resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

describe.each(stageNames)('the alarms of %s', (stage) => {
  const template = stackTemplate(stage);
  const alarms = new Map(
    resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => [nameOf(id), Properties]),
  );
  const [topicId] = resourceOf(template, 'AWS::SNS::Topic', 'MonitoringAlarmTopic');

  describe.each([...alarms])('%s', (_name, alarm) => {
    test('says what is the case before it names the chapter', () => {
      expect(alarm['AlarmDescription']).toMatch(/^[A-Z][^"]+\. See docs\/runbook\.md, "[^"]+"\.$/);
    });

    test('tells the topic of its beginning and its end', () => {
      expect(alarm['ActionsEnabled'] ?? true).toBe(true);
      expect(alarm['AlarmActions'].map(asText)).toEqual([`\${${topicId}}`]);
      expect(alarm['OKActions'].map(asText)).toEqual([`\${${topicId}}`]);
    });

    test('keeps still while there is nothing to count', () => {
      expect(alarm['TreatMissingData']).toBe('notBreaching');
    });

    test('begins where its threshold is reached', () => {
      expect(alarm['ComparisonOperator']).toBe('GreaterThanOrEqualToThreshold');
    });

    // CloudFormation takes any expression; CloudWatch then refuses the alarm in the middle of a deployment.
    test('calculates with its own metrics alone, and with all of them', () => {
      const queries: any[] = alarm['Metrics'] ?? [];
      const inputs = queries.filter(({ MetricStat }) => MetricStat).map(({ Id }) => Id as string);
      const results = queries.filter(({ ReturnData }) => ReturnData !== false);
      expect(results).toHaveLength(queries.length > 0 ? 1 : 0);
      expect(new Set(queries.map(({ Id }) => Id as string)).size).toBe(queries.length);
      for (const { Expression } of results) {
        expect(new Set(Expression.match(/\b[a-z]\w*/g))).toEqual(new Set(inputs));
      }
    });
  });

  describe('of the API', () => {
    const [, api] = resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
    const [, deployed] = resourcesOf(template, 'AWS::ApiGateway::Stage')[0]!;
    const dimensions = { ApiName: api.Properties['Name'], Stage: deployed.Properties['StageName'] };
    const sumPerMinute = { namespace: 'AWS/ApiGateway', dimensions, statistic: 'Sum', seconds: 60 };

    // By its name, which is a literal: see `apiMetrics`.
    test('count the 5xx that this API and stage answer with, beyond one in a thousand', () => {
      const alarm = alarms.get('ApiServerErrors')!;
      expect(metricsOf(alarm)).toEqual([
        { id: 'errors', metric: '5XXError', ...sumPerMinute },
        { id: 'requests', metric: 'Count', ...sumPerMinute },
      ]);
      expect(expressionOf(alarm)).toBe('errors - requests / 1000');
      expect(alarm).toMatchObject({ Threshold: 5, EvaluationPeriods: 1 });
    });

    test('measure what the slowest hundredth takes, over a quarter of an hour', () => {
      const alarm = alarms.get('ApiLatency')!;
      expect(metricsOf(alarm)).toEqual([
        { namespace: 'AWS/ApiGateway', metric: 'Latency', dimensions, statistic: 'p99', seconds: 300 },
      ]);
      expect(alarm).toMatchObject({ Threshold: 2_000, EvaluationPeriods: 3 });
    });
  });

  describe.each(resourcesOf(template, 'AWS::Lambda::Function').map(([id]) => id))('of %s', (functionId) => {
    test.each([
      ['Errors', 3],
      ['Throttles', 1],
    ])('count its %s in five minutes', (metric, threshold) => {
      const alarm = alarms.get(`${functionId.slice(0, -8)}${metric}`) ?? {};
      expect(metricsOf(alarm)).toEqual([
        {
          namespace: 'AWS/Lambda',
          metric,
          dimensions: { FunctionName: `\${${functionId}}` },
          statistic: 'Sum',
          seconds: 300,
        },
      ]);
      expect(alarm).toMatchObject({ Threshold: threshold, EvaluationPeriods: 1 });
    });
  });

  describe.each(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'))('of %s', (tableId, { Properties }) => {
    const TableName = `\${${tableId}}`;
    const indexes: any[] = Properties['GlobalSecondaryIndexes'] ?? [];
    const alarm = alarms.get(`${tableId.slice('Storage'.length, -8)}Throttles`) ?? {};

    test('watch reads and writes of the table and of each of its indexes, which are counted apart', () => {
      const watched = [
        { TableName },
        ...indexes.map(({ IndexName }) => ({ TableName, GlobalSecondaryIndexName: IndexName })),
      ].flatMap((dimensions) =>
        ['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => ({ metric, dimensions })),
      );
      const found = metricsOf(alarm);
      expect(found).toEqual(
        watched.map((metric) => ({
          id: expect.any(String),
          namespace: 'AWS/DynamoDB',
          statistic: 'Sum',
          seconds: 300,
          ...metric,
        })),
      );
    });

    test('begin with the first throttled request of any, also while the others have no data', () => {
      const terms = metricsOf(alarm).map(({ id }) => `FILL(${id}, 0)`);
      expect(expressionOf(alarm)).toBe(`SUM([${terms.join(', ')}])`);
      expect(alarm).toMatchObject({ Threshold: 1, EvaluationPeriods: 1 });
    });
  });
});

describe.each(stageNames)('the topic that the alarms of %s are sent to', (stage) => {
  const template = stackTemplate(stage);
  const [topicId] = resourceOf(template, 'AWS::SNS::Topic', 'MonitoringAlarmTopic');

  test('is the only one', () => {
    expect(resourcesOf(template, 'AWS::SNS::Topic')).toHaveLength(1);
  });

  test('takes messages of this account’s alarms in this region, and none without TLS', () => {
    const policies = resourcesOf(template, 'AWS::SNS::TopicPolicy');
    expect(policies).toHaveLength(1);
    const { Topics, PolicyDocument } = policies[0]![1].Properties;
    expect(Topics.map(asText)).toEqual([`\${${topicId}}`]);
    expect(PolicyDocument.Statement.map(withTextOfArns)).toEqual([
      {
        Sid: expect.any(String),
        Effect: 'Deny',
        Principal: '*',
        Action: 'sns:Publish',
        Resource: `\${${topicId}}`,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
      {
        Sid: expect.any(String),
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: `\${${topicId}}`,
        Condition: {
          ArnLike: {
            'aws:SourceArn': 'arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*',
          },
        },
      },
    ]);
  });

  test('is subscribed to by nobody when the settings name no e-mail address', () => {
    const { alarmEmail: _, ...settings } = { alarmEmail: undefined, ...stages[stage] };
    expect(resourcesOf(changedTemplate(stage, { settings }), 'AWS::SNS::Subscription')).toEqual([]);
  });

  test('is subscribed to by the e-mail address of the settings', () => {
    const settings = { ...stages[stage], alarmEmail: 'operators@example.com' };
    const subscriptions = resourcesOf(changedTemplate(stage, { settings }), 'AWS::SNS::Subscription');
    expect(subscriptions.map(([, { Properties }]) => Properties)).toEqual([
      { Protocol: 'email', Endpoint: 'operators@example.com', TopicArn: { Ref: topicId } },
    ]);
  });
});

/** Without what the path of every alarm begins with, and without the digits that the CDK appends. */
function nameOf(logicalId: string): string {
  return logicalId.replace(/^Monitoring/, '').slice(0, -8);
}

interface AlarmMetric {
  /** Its name in the expression, if the alarm has one. */
  id?: string;
  namespace: string;
  metric: string;
  dimensions: Record<string, string>;
  statistic: string;
  seconds: number;
}

/** The metrics that an alarm looks at: its only one, or those that it calculates with. */
function metricsOf(alarm: Record<string, any>): AlarmMetric[] {
  const queries: any[] = alarm['Metrics'] ?? [
    {
      MetricStat: {
        Metric: alarm,
        Period: alarm['Period'],
        Stat: alarm['Statistic'] ?? alarm['ExtendedStatistic'],
      },
    },
  ];
  return queries
    .filter(({ MetricStat }) => MetricStat)
    .map(({ Id, MetricStat: { Metric, Period, Stat } }) => ({
      ...(Id && { id: Id }),
      namespace: Metric.Namespace,
      metric: Metric.MetricName,
      dimensions: Object.fromEntries(
        (Metric.Dimensions ?? []).map(({ Name, Value }: any) => [Name, asText(Value)]),
      ),
      statistic: Stat,
      seconds: Period,
    }));
}

/** What an alarm calculates from its metrics. */
function expressionOf(alarm: Record<string, any>): string {
  return alarm['Metrics']?.find(({ Expression }: any) => Expression)?.Expression ?? '';
}

/** A statement of a policy with its ARNs as `asText` gives them. */
function withTextOfArns(statement: any): object {
  const { Resource, Condition } = statement;
  return {
    ...statement,
    Resource: asText(Resource),
    Condition: Condition.ArnLike
      ? { ArnLike: { 'aws:SourceArn': asText(Condition.ArnLike['aws:SourceArn']) } }
      : Condition,
  };
}
