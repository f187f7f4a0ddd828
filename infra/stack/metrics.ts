import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { metricNamespace, serviceName } from '../../shared/names.ts';

export const MINUTE = Duration.minutes(1);
export const FIVE_MINUTES = Duration.minutes(5);

/** Returns the API's metrics, which use the API's name because a reference would create a circular dependency. */
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

/** Returns the sum per minute of a metric that a stage's functions or metric filters emit. */
export function countPerMinute(
  stage: string,
  { name }: { name: string },
  dimensions: Record<string, string> = {},
): Metric {
  return new Metric({
    namespace: metricNamespace,
    metricName: name,
    dimensionsMap: { service: serviceName(stage), ...dimensions },
    statistic: Stats.SUM,
    period: MINUTE,
  });
}
