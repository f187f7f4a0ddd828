import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, type AlarmProps, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { StageSettings } from '../settings.ts';

/**
 * Longest expected delay of a metric. AWS documents no limit and recommends M-out-of-N alarms for late metrics.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const METRIC_DELAY = Duration.minutes(4);

interface PetStoreAlarmProps extends Pick<AlarmProps, 'threshold'> {
  metric: AlarmProps['metric'] & { period: Duration };
  /** Heading of the section about the alarm in docs/runbook.md. */
  section: string;
  /** Sentences that describe the effect on clients and then the alarm's condition. */
  description: string;
  /** @default 1 */
  datapointsToAlarm?: number;
}

/** The alarms of a stage and the topic that they notify. Other constructs add the alarms. */
export class Monitoring extends Construct {
  readonly topic: Topic;
  readonly alarms: Alarm[] = [];

  constructor(scope: Construct, id: string, stage: string, { alarmEmail }: StageSettings) {
    super(scope, id);

    this.topic = new Topic(this, 'AlarmTopic', { displayName: `Pet store ${stage}`, enforceSSL: true });
    // This grant replaces the default policy, which allows the entire account to publish.
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

  /** Adds an alarm that notifies the topic when it fires and when it returns to OK. */
  addAlarm(id: string, { section, description, datapointsToAlarm = 1, ...props }: PetStoreAlarmProps): Alarm {
    const alarm = new Alarm(this, id, {
      ...props,
      datapointsToAlarm,
      evaluationPeriods:
        datapointsToAlarm + Math.ceil(METRIC_DELAY.toSeconds() / props.metric.period.toSeconds()),
      alarmDescription: `${description} See docs/runbook.md, "${section}".`,
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
