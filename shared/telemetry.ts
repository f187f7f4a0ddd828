import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metricNamespace } from './names.ts';

// The logger and the recorder never receive events, headers or bodies, and `loggable` removes error messages that can
// quote them, so client data is not logged. The logger and the recorder are created on first use, because creating them
// takes 5 ms and many instances never log anything.
let createdLogger: Logger | undefined;
let createdRecorder: Metrics | undefined;

/**
 * Returns the logger, which writes JSON lines.
 * https://docs.aws.amazon.com/powertools/typescript/latest/features/logger/
 */
export function logger(): Logger {
  return (createdLogger ??= new Logger());
}

/**
 * Returns the recorder, which writes metrics as log lines.
 * https://docs.aws.amazon.com/powertools/typescript/latest/features/metrics/
 */
function recorder(): Metrics {
  return (createdRecorder ??= new Metrics({ namespace: metricNamespace }));
}

/** Logs that an event is not a request of API Gateway, for example the event of a test or a schedule. */
export function logNoRequest(): undefined {
  logger().warn('The event is not a request of API Gateway, so it was ignored.');
}

/** Runs the code of `count` during init without writing a log line. */
export function primeCount({ name }: Metric): void {
  recorder().addMetric(name, MetricUnit.Count, 0).serializeMetrics();
  recorder().clearMetrics();
}

/** A metric that `names.ts` defines. */
interface Metric {
  name: string;
  dimensions: readonly string[];
}

/** Names of errors whose messages can contain request data and are therefore not logged. */
const quotingErrors = new Set(['SyntaxError', 'ValidationException', 'RangeError']);

/** Maximum number of logged causes. The limit is needed because a chain of causes can be circular. */
const MAX_CAUSES = 5;

/**
 * Returns the loggable parts of an error: name, message, stack, code, causes and the SDK's metadata. Other properties
 * are omitted, because they can contain table items or responses. A message that can contain request data is replaced.
 * For a thrown value that is not an error, returns its type.
 *
 * @param causes maximum depth of the causes
 */
export function loggable(thrown: unknown, causes = MAX_CAUSES): object {
  if (!Error.isError(thrown)) return { thrown: typeof thrown };
  const { name, message, stack, cause } = thrown;
  const { code, $metadata } = thrown as { code?: unknown; $metadata?: unknown };
  return {
    name,
    message: quotingErrors.has(name) ? 'Not logged, because it can contain request data.' : message,
    // The message is removed from the stack first, because lines of the message can look like stack frames.
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
 * Adds 1 to a metric by writing a log line in embedded metric format.
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
