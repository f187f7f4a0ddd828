import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, type AlarmProps, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { StageSettings } from '../settings.ts';

/**
 * How late counts may come. AWS names no bound; for late metrics it recommends alarms on M of the last N datapoints.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html (FILL)
 */
const METRIC_DELAY = Duration.minutes(4);

interface PetStoreAlarmProps extends Pick<AlarmProps, 'threshold'> {
  metric: AlarmProps['metric'] & { period: Duration };
  /** Chapter of docs/runbook.md: what to do when the alarm fires. */
  chapter: string;
  /** What is the case when the metric reaches the threshold, as a sentence. */
  meaning: string;
  /** Periods of the metric that must reach it. @default 1 */
  datapointsToAlarm?: number;
}

/** The alarms of a stage, each added by the part that it watches, and the topic that they are sent to. */
export class Monitoring extends Construct {
  readonly topic: Topic;
  readonly alarms: Alarm[] = [];

  constructor(scope: Construct, id: string, stage: string, { alarmEmail }: StageSettings) {
    super(scope, id);

    this.topic = new Topic(this, 'AlarmTopic', { displayName: `Pet store ${stage}`, enforceSSL: true });
    // A policy of its own takes the place of the one that lets the whole account publish.
    const { account, partition, region } = Stack.of(this);
    this.topic.grantPublish(
      new ServicePrincipal('cloudwatch.amazonaws.com', {
        conditions: {
          ArnLike: { 'aws:SourceArn': `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
          StringEquals: { 'aws:SourceAccount': account },
        },
      }),
    );
    if (alarmEmail) this.topic.addSubscription(new EmailSubscription(alarmEmail));
  }

  /** Adds an alarm that notifies the topic of its beginning and its end, and names its chapter of the runbook. */
  addAlarm(id: string, { chapter, meaning, datapointsToAlarm = 1, ...props }: PetStoreAlarmProps): Alarm {
    const alarm = new Alarm(this, id, {
      ...props,
      datapointsToAlarm,
      evaluationPeriods:
        datapointsToAlarm + Math.ceil(METRIC_DELAY.toSeconds() / props.metric.period.toSeconds()),
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
