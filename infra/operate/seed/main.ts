import { constants } from 'node:os';
import { plain, runCommand, UsageError } from '../command.ts';
import { findTarget, readSeedOptions, USAGE } from './options.ts';
import { addPets, chooseRun, isInTime } from './run.ts';

// `npm run seed -- --count 10000`: fills a store with made-up pets, each exactly once however often it is cut off.

async function seedStore(): Promise<void> {
  const options = readSeedOptions(process.argv.slice(2), process.env);
  if (options.help) return console.log(USAGE);
  const target = await findTarget(options, process.env);
  const run = chooseRun(target, options);
  const { count, seed } = run;
  const beginning = run.added > 0 ? `Going on after ${run.added} of` : 'Adding';
  console.log(`${beginning} ${count} pets at ${target.baseAddress}, seed ${seed} …`);

  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (process.exitCode !== undefined) return; // npm sends on what the terminal has sent already
      process.exitCode = 128 + constants.signals[signal];
      complain('Waiting for the answers under way …');
      stopping.abort(new UsageError('Stopped.'));
    });
  }
  const start = performance.now();
  const { added, requests } = await addPets(target, run, options.concurrency, stopping);
  if (added === count) {
    process.exitCode = 0;
    const seconds = (performance.now() - start) / 1_000;
    const rate = Math.round(requests / seconds);
    return console.log(`Added ${count - run.added} pets in ${seconds.toFixed(1)} s, ${rate} requests/s.`);
  }
  const reason: unknown = stopping.signal.reason;
  if (!(reason instanceof UsageError)) throw reason;
  process.exitCode ??= 1;
  if (!isInTime(run)) return complain(reason.message);
  const command = `the same command${options.restart ? ' without --restart' : ''}`;
  complain(`${reason.message} The first ${added} of ${count} pets are there; ${command} goes on.`);
}

/** On a terminal the bar is in the line. */
function complain(sentence: string): void {
  console.error(`${process.stderr.isTTY ? '\n' : ''}${plain(sentence)}`);
}

await runCommand(seedStore);
