import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { format } from 'node:util';
import { invocation } from './invoke.ts';

// Powertools has its own console, which writes directly to the streams. Jest replaces only the global console.

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

/** Returns everything that the test has written so far to any stream. */
export function written(): string {
  return chunks.join('');
}

/** Returns the log lines that the test has written so far, without metrics. */
export function logLines(): Record<string, any>[] {
  return jsonLines().filter((line) => !('_aws' in line));
}

/** A value of a metric with one of its sets of dimensions. */
interface Occurrence {
  namespace: string;
  name: string;
  unit: string;
  value: number;
  dimensions: Record<string, string>;
}

/** Returns the metrics that the test has emitted so far. */
export function occurrences(): Occurrence[] {
  return jsonLines()
    .filter((line) => '_aws' in line)
    .flatMap(readMetrics);
}

/** Jest's reporter may write to the same streams, but writes no JSON. Each log line arrives in one write. */
function jsonLines(): Record<string, any>[] {
  return chunks
    .filter((chunk) => chunk.startsWith('{'))
    .map((chunk) => {
      expect(chunk).toMatch(/^.*\n$/);
      return JSON.parse(chunk);
    });
}

const text: unknown = expect.stringMatching(/^.{1,1024}$/);

/**
 * Parses a log line as CloudWatch does. Fails if CloudWatch would drop the line.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
function readMetrics({ _aws, ...members }: Record<string, any>): Occurrence[] {
  const { Timestamp, CloudWatchMetrics } = _aws;
  expect(_aws).toEqual({ Timestamp: expect.any(Number), CloudWatchMetrics: expect.any(Array) });
  expect(Math.abs(Date.now() - Timestamp)).toBeLessThan(2 * 3_600_000); // CloudWatch drops later metrics
  return CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }: Record<string, any>) => {
    expect(Namespace).toEqual(text);
    expect(Dimensions).not.toEqual([]);
    return Metrics.flatMap(({ Name, Unit }: Record<string, any>) => {
      expect([Name, members[Name]]).toEqual([text, expect.any(Number)]);
      return Dimensions.map((names: string[]) => {
        expect(names).toEqual(expect.any(Array));
        const dimensions = Object.fromEntries(names.map((name) => [name, members[name]]));
        for (const value of Object.values(dimensions)) expect(value).toEqual(text);
        return { namespace: Namespace, name: Name, unit: Unit, value: members[Name], dimensions };
      });
    });
  });
}

/** Returns one occurrence of a metric with these dimensions and `service`. */
export function counted(name: string, dimensions: Record<string, string> = {}): Occurrence {
  const service = expect.stringMatching(/\S/) as unknown as string;
  return { namespace: 'PetStore', name, unit: 'Count', value: 1, dimensions: { service, ...dimensions } };
}

/** Returns the occurrences of an internal error in this operation, with and without the version of the function. */
export function countedInternalError(operation: string): Occurrence[] {
  return [
    counted('ErrorResponses', { code: 'internal_error' }),
    counted('InternalErrors', { operation, version: invocation.functionVersion }),
  ];
}
