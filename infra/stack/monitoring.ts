import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { keyIndex, listIndexes, serviceName } from '../../shared/names.ts';
import type { PetStoreFunctions } from './functions.ts';
import type { StageSettings } from '../settings.ts';
import type { Storage } from './storage.ts';

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);

/** Chapters of docs/runbook.md, one for each kind of alarm. */
export type Chapter =
  | 'Server errors'
  | 'Slow answers'
  | 'Function errors'
  | 'Function throttles'
  | 'Authorizer errors'
  | 'Table throttles'
  | 'Errors of a new version';

interface PetStoreAlarmProps extends Pick<AlarmProps, 'metric' | 'threshold'> {
  chapter: Chapter;
  /** How many periods of the metric in a row must reach it: 1 by default. */
  evaluationPeriods?: number;
  /** What is the case when the metric reaches the threshold. */
  meaning: string;
}

interface MonitoringProps {
  stage: string;
  settings: StageSettings;
  functions: PetStoreFunctions;
  storage: Storage;
}

/** The alarms of a stage, and the topic that they are sent to. */
export class Monitoring extends Construct {
  /** More 5xx than happen by chance; what a deployment is rolled back on. */
  readonly serverErrors: Alarm;
  readonly alarms: Alarm[] = [];
  /** Requests that DynamoDB throttled, for each table. */
  readonly throttles: MathExpression[];
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { stage, settings, functions, storage }: MonitoringProps) {
    super(scope, id);

    this.topic = new Topic(this, 'AlarmTopic', { displayName: `Pet store ${stage}`, enforceSSL: true });
    // A policy of its own takes the place of the one that lets the whole account publish.
    const { account, partition, region } = Stack.of(this);
    this.topic.grantPublish(
      new ServicePrincipal('cloudwatch.amazonaws.com', {
        conditions: {
          ArnLike: { 'aws:SourceArn': `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
        },
      }),
    );
    if (settings.alarmEmail) this.topic.addSubscription(new EmailSubscription(settings.alarmEmail));

    const api = apiMetrics(stage);
    this.serverErrors = this.addAlarm('ApiServerErrors', {
      chapter: 'Server errors',
      meaning: 'More than one answer in a thousand, and five beyond that in a minute, was a 5xx.',
      metric: new MathExpression({
        expression: 'errors - requests / 1000',
        usingMetrics: { errors: api.serverErrors, requests: api.requests },
        label: '5xx beyond one in a thousand',
        period: MINUTE,
      }),
      threshold: 5,
    });
    this.addAlarm('ApiLatency', {
      chapter: 'Slow answers',
      meaning: 'For fifteen minutes, one answer in a hundred took more than two seconds.',
      metric: api.latency('p99').with({ period: FIVE_MINUTES }),
      threshold: 2_000,
      evaluationPeriods: 3,
    });

    for (const fn of Object.values(functions)) {
      const functionName = fn.node.id;
      // What an operation's code throws becomes an answer; the authorizer throws when it cannot decide.
      const [chapter, failed] =
        fn === functions.authorizer
          ? (['Authorizer errors', 'threw, crashed or timed out'] as const)
          : (['Function errors', 'crashed, timed out or could not start'] as const);
      this.addAlarm(`${functionName}Errors`, {
        chapter,
        meaning: `${functionName} ${failed} three times in five minutes.`,
        metric: fn.metricErrors({ period: FIVE_MINUTES }),
        threshold: 3,
      });
      this.addAlarm(`${functionName}Throttles`, {
        chapter: 'Function throttles',
        meaning: `Lambda refused to start ${functionName}.`,
        metric: fn.metricThrottles({ period: FIVE_MINUTES }),
        threshold: 1,
      });
    }

    const petsThrottles = throttles('pets', storage.pets, Object.values(listIndexes));
    const intentsThrottles = throttles('intents', storage.intents, []);
    const apiKeysThrottles = throttles('apiKeys', storage.apiKeys, [keyIndex]);
    this.throttles = [petsThrottles, intentsThrottles, apiKeysThrottles];
    this.addAlarm('PetsThrottles', {
      chapter: 'Table throttles',
      meaning: 'DynamoDB throttled the table of pets or one of its indexes.',
      metric: petsThrottles,
      threshold: 1,
    });
    this.addAlarm('IntentsThrottles', {
      chapter: 'Table throttles',
      meaning: 'DynamoDB throttled the table of intents, which creates with an Idempotency-Key need.',
      metric: intentsThrottles,
      threshold: 1,
    });
    this.addAlarm('ApiKeysThrottles', {
      chapter: 'Table throttles',
      meaning: 'DynamoDB throttled the table of API keys or its index.',
      metric: apiKeysThrottles,
      threshold: 1,
    });
  }

  /** An alarm that tells the topic of its beginning and its end, and names its chapter of the runbook. */
  addAlarm(id: string, { chapter, meaning, evaluationPeriods = 1, ...props }: PetStoreAlarmProps): Alarm {
    const alarm = new Alarm(this, id, {
      ...props,
      evaluationPeriods,
      alarmDescription: `${meaning} See docs/runbook.md, "${chapter}".`,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(this.topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.alarms.push(alarm);
    return alarm;
  }
}

/** The API's metrics by its name: a reference would make the API wait for the alarms that deployments wait for. */
export function apiMetrics(stage: string) {
  const metric = (metricName: string, statistic: string): Metric =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiName: serviceName(stage), Stage: stage },
      statistic,
      period: MINUTE,
    });
  return {
    requests: metric('Count', Stats.SUM),
    clientErrors: metric('4XXError', Stats.SUM),
    serverErrors: metric('5XXError', Stats.SUM),
    latency: (statistic: string) => metric('Latency', statistic),
  };
}

/** Of the table itself and of its indexes, which are counted apart. */
function throttles(
  name: string,
  { tableName }: TableV2,
  indexes: readonly { indexName: string }[],
): MathExpression {
  const targets = [
    { TableName: tableName },
    ...indexes.map(({ indexName }) => ({ TableName: tableName, GlobalSecondaryIndexName: indexName })),
  ];
  const events = targets.flatMap((dimensionsMap) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
      (metricName) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName,
          dimensionsMap,
          statistic: Stats.SUM,
          period: FIVE_MINUTES,
        }),
    ),
  );
  return sumOf(
    Object.fromEntries(events.map((event, index) => [`${name}${index}`, event])),
    `throttled, ${name}`,
    FIVE_MINUTES,
  );
}

/**
 * The sum of metrics that have data only while there is something to count. Alarms ignore what is missing from DynamoDB's
 * metrics: without zeros one would never end. SUM takes the others if one of them has never had any.
 */
export function sumOf(usingMetrics: Record<string, Metric>, label: string, period: Duration): MathExpression {
  const terms = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({ expression: `SUM([${terms.join(', ')}])`, usingMetrics, label, period });
}
