import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { Console } from 'node:console';
import { metricNamespace } from '../../shared/names.ts';
import { invocation } from './invoke.ts';

// The hooks below capture standard output and standard error, because Powertools creates its own console, which Jest
// does not replace. The console that is created here writes to the same streams, so the hooks capture its output too.
globalThis.console = new Console(process.stdout, process.stderr);

let chunks: string[] = [];

function keep(chunk: string | Uint8Array): true {
  chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
  return true;
}

beforeEach(() => {
  chunks = [];
  for (const stream of [process.stdout, process.stderr]) jest.spyOn(stream, 'write').mockImplementation(keep);
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
type Occurrence = ReturnType<typeof counted>;

/** Returns the metric values that the test has written so far. */
export function occurrences(): Occurrence[] {
  return jsonLines()
    .filter((line) => '_aws' in line)
    .flatMap(readMetrics);
}

/** Returns all JSON lines. Ignores other lines, because Jest's reporter can write to the same streams. */
function jsonLines(): Record<string, any>[] {
  return chunks
    .filter((chunk) => chunk.startsWith('{'))
    .map((chunk) => {
      expect(chunk).toMatch(/^.*\n$/);
      return JSON.parse(chunk);
    });
}

/**
 * Returns the metric values that CloudWatch extracts from a log line.
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

/** Returns the expected metric value of one `count` call. Adds the dimension `service`, which every metric has. */
export function counted(name: string, dimensions: Record<string, string> = {}) {
  const service = expect.stringMatching(/\S/) as unknown as string;
  const count = { namespace: metricNamespace, unit: 'Count', value: 1 };
  return { ...count, name, dimensions: { service, ...dimensions } };
}

/** Returns the expected metric values for one 5xx response of an operation. */
export function countedServerError(operation: string, code: string): Occurrence[] {
  return [
    counted('VersionErrors', { operation, version: invocation.functionVersion }),
    counted('ErrorResponses', { code }),
  ];
}
