import { type App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as subscriptions from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { metricNamespace, productName, serviceName, serviceTag, stackName } from '../../shared/names.ts';
import type { Stage } from '../settings.ts';

export const MINUTE = Duration.minutes(1);
export const FIVE_MINUTES = Duration.minutes(5);

/**
 * Longest expected delay of a metric (3 minutes) plus a margin of 1 minute. AWS documents no limit and recommends
 * M-out-of-N alarms for late metrics, so alarms also evaluate the periods of this delay.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const METRIC_DELAY = Duration.minutes(4);

export interface StageAlarmProps extends Partial<
  Pick<cloudwatch.AlarmProps, 'alarmName' | 'threshold' | 'datapointsToAlarm'>
> {
  metric: cloudwatch.Metric | cloudwatch.MathExpression;
  /** Heading of the section about the alarm in docs/oncall.md. */
  section: string;
  /** Sentences that describe the effect on clients and then the alarm's condition. */
  description: string;
  urgency: Urgency;
}

/** Who learns of an alarm: `wake` notifies the topic AlarmTopic, `mail` the topic NoticeTopic, and `none` nobody. */
type Urgency = 'wake' | 'mail' | 'none';

/** A metric that functions or metric filters emit. Each one also has the dimension `service`. */
interface EmittedMetric {
  name: string;
  dimensions: readonly string[];
}

/** Stack of a stage, with the topics that alarms notify. Other modules add the alarms and all other resources. */
export class StageStack extends Stack {
  readonly stage: Stage;
  /** Topic of the alarms that must wake somebody. */
  readonly alarmTopic: sns.Topic;
  /** Topic of the alarms and events that can wait until somebody reads their mail. */
  readonly noticeTopic: sns.Topic;
  readonly alarms: cloudwatch.Alarm[] = [];
  private readonly monitoring = new Construct(this, 'Monitoring');

  constructor(app: App, stage: Stage) {
    super(app, stackName(stage.name), {
      description: `${productName}, stage ${stage.name}`,
      analyticsReporting: false,
      terminationProtection: stage.retainData,
      tags: { service: serviceTag, stage: stage.name },
    });
    this.stage = stage;
    this.alarmTopic = this.addTopic('AlarmTopic', `${productName} ${stage.name}`);
    this.noticeTopic = this.addTopic('NoticeTopic', `${productName} ${stage.name}, notices`);
  }

  /** Adds a topic to which CloudWatch can publish, and to which `alarmEmail`, if set, subscribes. */
  private addTopic(id: string, displayName: string): sns.Topic {
    const { account, partition, region, stage } = this;
    const topic = new sns.Topic(this.monitoring, id, { displayName, enforceSSL: true });
    // `enforceSSL` replaces the topic's default policy, so CloudWatch needs this permission to publish.
    topic.grantPublish(
      new iam.ServicePrincipal('cloudwatch.amazonaws.com', {
        conditions: {
          ArnLike: { 'aws:SourceArn': `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
          StringEquals: { 'aws:SourceAccount': account },
        },
      }),
    );
    if (stage.alarmEmail) topic.addSubscription(new subscriptions.EmailSubscription(stage.alarmEmail));
    return topic;
  }

  /** Adds an alarm that notifies the topic of its urgency when it fires and when it returns to OK. */
  addAlarm(id: string, props: StageAlarmProps): cloudwatch.Alarm {
    const { urgency, section, description, metric, threshold = 1, datapointsToAlarm = 1, ...others } = props;
    const latePeriods = Math.ceil(METRIC_DELAY.toSeconds() / metric.period.toSeconds());
    const alarm = new cloudwatch.Alarm(this.monitoring, id, {
      ...others,
      metric,
      threshold,
      datapointsToAlarm,
      evaluationPeriods: datapointsToAlarm + latePeriods,
      alarmDescription: `${description} See docs/oncall.md, "${section}".`,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    if (urgency !== 'none') {
      const action = new actions.SnsAction(urgency === 'wake' ? this.alarmTopic : this.noticeTopic);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
    this.alarms.push(alarm);
    return alarm;
  }

  /** Returns the sum per minute of a metric that the stage's functions or metric filters emit. */
  countPerMinute({ name: metricName }: EmittedMetric, dimensions = {}): cloudwatch.Metric {
    const dimensionsMap = { service: serviceName(this.stage.name), ...dimensions };
    const props = { namespace: metricNamespace, metricName, dimensionsMap };
    return new cloudwatch.Metric({ ...props, statistic: cloudwatch.Stats.SUM, period: MINUTE });
  }

  /** Returns an expression that graphs a metric's sum per minute, with one line per combination of dimension values. */
  countsPerMinute({ name, dimensions }: EmittedMetric): cloudwatch.MathExpression {
    const schema = [metricNamespace, 'service', ...dimensions].join(',');
    return new cloudwatch.MathExpression({
      expression: `SEARCH('{${schema}} MetricName="${name}" service="${serviceName(this.stage.name)}"', 'Sum', 60)`,
      label: '',
      period: MINUTE,
    });
  }
}

/** Returns an expression for the number by which `part` exceeds the fraction `share` of `total` in each period. */
export function excess(part: cloudwatch.Metric, share: number, total: cloudwatch.Metric) {
  return new cloudwatch.MathExpression({
    // Without IF, a missing `total` would be zero, so a small `part` would fire the alarm before `total` arrives.
    expression: `IF(total, part - ${share} * total)`,
    usingMetrics: { part, total: total.with({ period: part.period }) },
    label: `Excess over ${share * 100}%`,
    period: part.period,
  });
}

/** Adds a log group with the stage's retention. @param name fixed name @default - a name that CloudFormation chooses */
export function addLogGroup(scope: Construct, id: string, stage: Stage, name?: string): logs.LogGroup {
  return new logs.LogGroup(scope, id, {
    ...(name !== undefined && { logGroupName: name }),
    retention: stage.logRetentionDays,
    removalPolicy: stage.retainData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  });
}
