import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { format } from 'node:util';
import { metricNamespace } from '../../shared/names.ts';
import { invocation } from './invoke.ts';

// These hooks capture stdout and stderr, because Jest replaces only the global console, but Powertools uses its own.

let chunks: string[] = [];

function keep(chunk: string | Uint8Array): true {
  chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
  return true;
}

beforeEach(() => {
  chunks = [];
  for (const stream of [process.stdout, process.stderr]) jest.spyOn(stream, 'write').mockImplementation(keep);
  for (const level of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
    jest.spyOn(console, level).mockImplementation((...parameters) => {
      keep(`${format(...parameters)}\n`);
    });
  }
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns all text that the test has written so far to standard output and standard error. */
export function written(): string {
  return chunks.join('');
}

/** Returns the log lines that the test has written so far, without metrics. */
export function logLines(): Record<string, any>[] {
  return jsonLines().filter((line) => !('_aws' in line));
}

/** A metric value with one set of dimensions. */
interface Occurrence {
  namespace: string;
  name: string;
  unit: string;
  value: number;
  dimensions: Record<string, string>;
}

/** Returns the metric values that the test has emitted so far. */
export function occurrences(): Occurrence[] {
  return jsonLines()
    .filter((line) => '_aws' in line)
    .flatMap(readMetrics);
}

/** Returns all JSON lines. Other lines are ignored, because Jest's reporter can write to the same streams. */
function jsonLines(): Record<string, any>[] {
  return chunks
    .filter((chunk) => chunk.startsWith('{'))
    .map((chunk) => {
      expect(chunk).toMatch(/^.*\n$/);
      return JSON.parse(chunk);
    });
}

/**
 * Parses a log line as CloudWatch does.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
function readMetrics({ _aws, ...members }: Record<string, any>): Occurrence[] {
  return _aws.CloudWatchMetrics.flatMap(
    ({ Namespace: namespace, Dimensions, Metrics }: Record<string, any>) =>
      Metrics.flatMap(({ Name: name, Unit: unit }: Record<string, any>) =>
        Dimensions.map((names: string[]) => {
          const dimensions = Object.fromEntries(names.map((dimension) => [dimension, members[dimension]]));
          return { namespace, name, unit, value: members[name], dimensions };
        }),
      ),
  );
}

/** Returns the expected metric value for one event. Every metric also has the dimension `service`. */
export function counted(name: string, dimensions: Record<string, string> = {}): Occurrence {
  const service = expect.stringMatching(/\S/) as unknown as string;
  const count = { namespace: metricNamespace, unit: 'Count', value: 1 };
  return { ...count, name, dimensions: { service, ...dimensions } };
}

/** Returns the expected metric values for one internal error in the given operation. */
export function countedInternalError(operation: string): Occurrence[] {
  return [
    counted('ErrorResponses', { code: 'internal_error' }),
    counted('InternalErrors', { operation, version: invocation.functionVersion }),
  ];
}
