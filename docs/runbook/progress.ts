import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../infra/command.ts';

/** Progress of reading a segment of a table. */
export interface Progress {
  /** Key of the last item of the last page that was processed, or `end` after the last page. */
  last?: Record<string, unknown> | 'end';
  /** Number of items that were read, and of those that a write changed. */
  read: number;
  written: number;
}

/** Opens the folder that stores the progress of each segment. Several processes can use the folder at once. */
export function openStore(folder: string) {
  mkdirSync(folder, { recursive: true });
  const fileOf = (segment: number) => join(folder, `${segment}.json`);
  return {
    read(segment: number): Progress {
      try {
        return JSON.parse(readFileSync(fileOf(segment), 'utf8')) as Progress;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { read: 0, written: 0 };
        throw new UsageError(
          `${fileOf(segment)} contains no progress. Delete this file, and repeat the command.`,
        );
      }
    },

    /** Replaces the segment's file at once, so that an interrupted process never leaves a part of a file. */
    write(segment: number, progress: Progress): void {
      const file = fileOf(segment);
      // The name contains the process id, because another process can have been started with the same part by mistake.
      const temporary = `${file}.${process.pid}`;
      try {
        writeFileSync(temporary, JSON.stringify(progress), { flush: true });
        renameSync(temporary, file);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new UsageError(
          `The progress cannot be stored in ${folder} (${code}). Fix the cause, and repeat the command.`,
        );
      }
    },
    /** Deletes the folder, so that the next process reads all items again. */
    delete(): void {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Report {
  /** Start of each line. */
  prefix: string;
  /** What a write does to an item, such as `copied`. */
  done: string;
  /** Progress of each segment that this process reads. The caller changes the objects. */
  progress: Progress[];
  /** Number of items in these segments, or 0 if it is unknown. */
  estimate: number;
}

/** Returns a function that prints the progress. Each call within 5 seconds after the start or the last line does nothing. */
export function startReport({ prefix, done, progress, estimate }: Report): () => void {
  const start = performance.now();
  const before = countsOf(progress).read;
  let printed = start;
  return () => {
    const now = performance.now();
    if (now - printed < 5_000) return;
    printed = now;
    const { read, written } = countsOf(progress);
    const seconds = (now - start) / 1_000;
    const total = estimate || estimateOf(progress);
    console.log(prefix + progressLine({ read, written, done, total, perSecond: (read - before) / seconds }));
  };
}

/** Estimates the number of all items from the finished segments, because all segments have about the same size. */
function estimateOf(progress: Progress[]): number {
  const finished = progress.filter(({ last }) => last === 'end');
  return finished.length > 0 ? (countsOf(finished).read * progress.length) / finished.length : 0;
}

export function countsOf(progress: Progress[]): { read: number; written: number } {
  const counts = { read: 0, written: 0 };
  for (const { read, written } of progress) {
    counts.read += read;
    counts.written += written;
  }
  return counts;
}

interface Line {
  read: number;
  written: number;
  done: string;
  /** Estimated number of all items, or 0 if it is unknown. */
  total: number;
  perSecond: number;
}

/** Returns a line such as `1,200 of about 10,000 items read, 31 copied, 48 per second, about 3.1 minutes left`. */
export function progressLine({ read, written, done, total, perSecond }: Line): string {
  const items = total > 0 ? `${format(read)} of about ${format(total)}` : format(read);
  // The estimate can be too low, because DynamoDB updates the number of items only every six hours. If more items have
  // been read, the time left is unknown.
  const left =
    read < total && perSecond > 0 ? `, about ${durationText((total - read) / perSecond)} left` : '';
  return `${items} items read, ${format(written)} ${done}, ${format(perSecond)} per second${left}`;
}

/** Formats an integer, such as `1,200`. */
export function format(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Returns a duration, rounded to two significant digits, such as `31 minutes` or `2.4 days`. */
export function durationText(seconds: number): string {
  const units: [string, number][] = [
    ['days', 86_400],
    ['hours', 3_600],
    ['minutes', 60],
  ];
  const [name, length] = units.find(([, each]) => seconds >= 2 * each) ?? ['seconds', 1];
  const value = (seconds / length).toLocaleString('en', { maximumSignificantDigits: 2 });
  return value === '1' ? '1 second' : `${value} ${name}`;
}
