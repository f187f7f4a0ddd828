import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  durationText,
  openStore,
  type Progress,
  progressLine,
  startReport,
} from '../../docs/runbook/progress.ts';
import { paceOf } from '../../docs/runbook/scan-and-write.ts';
import { UsageError } from '../../infra/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const parent = temporaryFolder();

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/**
 * Starts a report. Returns a function that advances the time, reports once, and returns the lines that were printed.
 */
function reportOf(progress: Progress[], estimate: number): (milliseconds: number) => unknown[] {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  const report = startReport({ prefix: 'Part 1/4: ', done: 'copied', progress, estimate });
  return (milliseconds) => {
    log.mockClear();
    jest.advanceTimersByTime(milliseconds);
    report();
    return log.mock.calls.flat();
  };
}

/** Calls `pace` with each of the counts at once. Returns the times in milliseconds after which the calls end. */
function endsOf(pace: (count?: number) => Promise<void>, counts: number[]): number[] {
  const ends: number[] = [];
  const start = performance.now();
  for (const count of counts) void pace(count).then(() => ends.push(performance.now() - start));
  return ends;
}

describe('the progress of a script', () => {
  const line = { read: 1_200_000, written: 3_100, done: 'copied', total: 10_000_000, perSecond: 4_800 };

  test('contains counts, the speed and the estimated time left', () => {
    expect(progressLine(line)).toBe(
      '1,200,000 of about 10,000,000 items read, 3,100 copied, 4,800 per second, about 31 minutes left',
    );
  });

  test.each([
    ['the number of items is unknown', { total: 0 }, '1,200,000 items read, 3,100 copied, 4,800 per second'],
    [
      'more items were read than estimated',
      { total: 1_000_000 },
      '1,200,000 of about 1,000,000 items read, 3,100 copied, 4,800 per second',
    ],
    [
      'no item was read yet',
      { read: 0, written: 0, perSecond: 0 },
      '0 of about 10,000,000 items read, 0 copied, 0 per second',
    ],
  ])('contains no time left if %s', (_case, fields, expected) => {
    expect(progressLine({ ...line, ...fields })).toBe(expected);
  });

  test.each([
    [0.4, '0.4 seconds'],
    [1, '1 second'],
    [119, '120 seconds'],
    [120, '2 minutes'],
    [5_400, '90 minutes'],
    [7_200, '2 hours'],
    [50 * 3_600, '2.1 days'],
    [1_000_000, '12 days'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });

  test('is printed at most every five seconds, with the speed since the script was resumed', () => {
    const segment = { read: 1_000, written: 10 };
    const linesAfter = reportOf([segment], 2_000);
    segment.read += 100;
    expect(linesAfter(4_999)).toEqual([]);
    expect(linesAfter(1)).toEqual([
      'Part 1/4: 1,100 of about 2,000 items read, 10 copied, 20 per second, about 45 seconds left',
    ]);
    expect(linesAfter(4_999)).toEqual([]);
    expect(linesAfter(1)).toEqual([
      'Part 1/4: 1,100 of about 2,000 items read, 10 copied, 10 per second, about 90 seconds left',
    ]);
  });

  test('contains an estimate from the finished segments if DynamoDB has not counted the items', () => {
    const first: Progress = { read: 500, written: 5 };
    const linesAfter = reportOf([first, { read: 100, written: 1 }, { read: 0, written: 0 }], 0);
    expect(linesAfter(5_000)).toEqual(['Part 1/4: 600 items read, 6 copied, 0 per second']);
    first.last = 'end';
    expect(linesAfter(5_000)).toEqual(['Part 1/4: 600 of about 1,500 items read, 6 copied, 0 per second']);
  });
});

describe('a limit of items per second', () => {
  afterEach(() => {
    delete process.env['ITEMS_PER_SECOND'];
  });

  test('spreads concurrent calls evenly', async () => {
    process.env['ITEMS_PER_SECOND'] = '4';
    const ends = endsOf(paceOf('ITEMS_PER_SECOND'), [1, 1, 4, 1]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(ends).toEqual([0, 250, 500, 1_500]);
  });

  test('allows no burst after a pause', async () => {
    process.env['ITEMS_PER_SECOND'] = '4';
    const pace = paceOf('ITEMS_PER_SECOND');
    await pace();
    await jest.advanceTimersByTimeAsync(60_000);
    const ends = endsOf(pace, [1, 1]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ends).toEqual([0, 250]);
  });

  test('is optional', async () => {
    const ends = endsOf(paceOf('ITEMS_PER_SECOND'), [1, 1]);
    await jest.advanceTimersByTimeAsync(0);
    expect(ends).toEqual([0, 0]);
  });
});

test('a script whose progress cannot be read or stored fails with an error that names the file or the folder', () => {
  const folder = mkdtempSync(join(parent, 'progress-'));
  const store = openStore(folder);
  expect(store.read(3)).toEqual({ read: 0, written: 0 });
  store.write(3, { last: 'end', read: 7, written: 2 });
  expect(store.read(3)).toEqual({ last: 'end', read: 7, written: 2 });
  const file = join(folder, '3.json');
  writeFileSync(file, '');
  const unreadable = `${file} contains no progress. Delete this file, and repeat the command.`;
  expect(() => store.read(3)).toThrow(new UsageError(unreadable));
  store.delete();
  const message = `The progress cannot be stored in ${folder} (ENOENT). Fix the cause, and repeat the command.`;
  expect(() => store.write(3, { read: 7, written: 2 })).toThrow(new UsageError(message));
});
