import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metricNamespace, type metrics } from './names.ts';

// The logger and metrics never receive events, headers or bodies, so they cannot log them. Both are created on first use,
// because creating them takes 5 ms and most instances never log anything.
let createdLogger: Logger | undefined;
let createdRecorder: Metrics | undefined;

/** Writes JSON lines. https://docs.aws.amazon.com/powertools/typescript/latest/features/logger/ */
export function logger(): Logger {
  return (createdLogger ??= new Logger());
}

/** Writes metrics as log lines. https://docs.aws.amazon.com/powertools/typescript/latest/features/metrics/ */
function recorder(): Metrics {
  return (createdRecorder ??= new Metrics({ namespace: metricNamespace }));
}

/** Runs the code of `count` without writing a log line. */
export function primeCount({ name }: Metric): void {
  recorder().addMetric(name, MetricUnit.Count, 0).serializeMetrics();
  recorder().clearMetrics();
}

type Metric = (typeof metrics)[keyof typeof metrics];

/** Errors whose messages contain values of the request or the text that could not be parsed. */
const quotingErrors = new Set(['SyntaxError', 'ValidationException', 'RangeError']);

/** Limits the logged causes, because a chain of causes can be circular. */
const MAX_CAUSES = 5;

/**
 * Returns the loggable parts of an error: name, message, stack, code, causes and the SDK's metadata. Other properties are
 * omitted, because they can contain table items or responses.
 */
export function loggable(thrown: unknown, causes = MAX_CAUSES): object {
  if (!Error.isError(thrown)) return { thrown: typeof thrown };
  const { name, message, stack, cause } = thrown;
  const { code, $metadata } = thrown as { code?: unknown; $metadata?: unknown };
  return {
    name,
    message: quotingErrors.has(name) ? 'Not logged, because it may contain request data.' : message,
    // The stack starts with the message, whose lines can look like stack frames.
    stack: stack
      ?.replace(message, '')
      .match(/^ +at .+/gm)
      ?.join('\n'),
    code,
    $metadata,
    ...(cause !== undefined && causes > 0 && { cause: loggable(cause, causes - 1) }),
  };
}

/**
 * Counts one occurrence by writing a log line in embedded metric format.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function count<M extends Metric>(
  { name }: M,
  dimensions: Record<M['dimensions'][number], string>,
): void {
  for (const [dimension, value] of Object.entries<string>(dimensions))
    recorder().addDimension(dimension, value);
  recorder().addMetric(name, MetricUnit.Count, 1).publishStoredMetrics();
}
