import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metricNamespace, type metrics } from './names.ts';

// Neither ever gets to see an event, a header or a body: what is not handed over cannot be logged.

// Both are created when they are first used, because most instances never log anything and creating them takes 5 ms.
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

/** Does what `count` does, but for writing the line. */
export function primeCount({ name }: Metric): void {
  recorder().addMetric(name, MetricUnit.Count, 0).serializeMetrics();
  recorder().clearMetrics();
}

type Metric = (typeof metrics)[keyof typeof metrics];

/** The messages of these quote values: DynamoDB's those of the request, the others what they could not read. */
const quotingErrors = new Set(['SyntaxError', 'ValidationException', 'RangeError']);

/** Causes beyond are left out; a chain of them may be a ring. */
const MAX_CAUSES = 5;

/**
 * What is logged of anything thrown: of an error its name, message, stack, causes and the SDK's metadata. Other members
 * are left out, as they may hold the item of a table or a response.
 */
export function loggable(thrown: unknown, causes = MAX_CAUSES): object {
  if (!Error.isError(thrown)) return { thrown: typeof thrown };
  const { name, message, stack, cause } = thrown;
  const { code, $metadata } = thrown as { code?: unknown; $metadata?: unknown };
  return {
    name,
    message: quotingErrors.has(name) ? 'Not logged: it may quote what was sent.' : message,
    // It begins with the message, of which any line might look like one of its own.
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
 * Counts one occurrence by a log line in embedded metric format.
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
