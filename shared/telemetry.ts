import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metrics } from './environment.ts';

// Neither ever gets to see an event, a header or a body: what is not handed over cannot be logged.

/** Writes JSON lines. https://docs.aws.amazon.com/powertools/typescript/latest/features/logger/ */
export const logger = new Logger();

const recorder = new Metrics({ namespace: metrics.namespace });

type Metric = Exclude<(typeof metrics)[keyof typeof metrics], string>;

/**
 * Counts one occurrence, as a log line that CloudWatch makes a metric of, without a call and without waiting.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function count<M extends Metric>(
  { name }: M,
  dimensions: Record<M['dimensions'][number], string>,
): void {
  for (const [dimension, value] of Object.entries<string>(dimensions))
    recorder.addDimension(dimension, value);
  recorder.addMetric(name, MetricUnit.Count, 1).publishStoredMetrics();
}
