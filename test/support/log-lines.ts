import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { format } from 'node:util';
import { invocation } from './invoke.ts';

// Powertools writes by a console of its own, straight to the streams; jest puts another in place of the global one.

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

/** All that the test has written so far, to whatever stream. */
export function written(): string {
  return chunks.join('');
}

/** The log lines that the test has written so far, metrics aside. */
export function logLines(): Record<string, any>[] {
  return jsonLines().filter((line) => !('_aws' in line));
}

/** A value of a metric, for each set of dimensions that it is recorded under. */
interface Occurrence {
  namespace: string;
  name: string;
  unit: string;
  value: number;
  dimensions: Record<string, string>;
}

/** What the test has counted so far. */
export function occurrences(): Occurrence[] {
  return jsonLines()
    .filter((line) => '_aws' in line)
    .flatMap(readMetrics);
}

/** Jest's own reporter may write to the same streams, but no JSON; each line of a log comes in one write. */
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
 * Reads a log line as CloudWatch does, and fails for one that CloudWatch would drop.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
function readMetrics({ _aws, ...members }: Record<string, any>): Occurrence[] {
  const { Timestamp, CloudWatchMetrics } = _aws;
  expect(_aws).toEqual({ Timestamp: expect.any(Number), CloudWatchMetrics: expect.any(Array) });
  expect(Math.abs(Date.now() - Timestamp)).toBeLessThan(2 * 3_600_000); // milliseconds; later ones are dropped
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

/** One occurrence of a metric of ours, by these dimensions beside `service`. */
export function counted(name: string, dimensions: Record<string, string> = {}): Occurrence {
  const service = expect.stringMatching(/\S/) as unknown as string;
  return { namespace: 'PetStore', name, unit: 'Count', value: 1, dimensions: { service, ...dimensions } };
}

/** An error of ours in this operation, which counts for the version of the function too. */
export function countedInternalError(operation: string): Occurrence[] {
  return [
    counted('ErrorResponses', { code: 'internal_error' }),
    counted('InternalErrors', { operation, version: invocation.functionVersion }),
  ];
}
