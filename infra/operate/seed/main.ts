import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { constants } from 'node:os';
import { plain, runCommand, UsageError } from '../command.ts';
import { showProgress } from '../progress.ts';
import { addPet } from './client.ts';
import { findService, readSeedOptions, USAGE } from './options.ts';

// `npm run seed -- --count 10000`: fills a store with made-up pets, each exactly once even if the run is interrupted.

async function seedStore(): Promise<void> {
  const options = readSeedOptions(process.argv.slice(2), process.env);
  if (options.help) return console.log(USAGE);
  const { count, seed, concurrency } = options;
  const service = await findService(options, process.env);
  console.log(`Adding ${count} pets to ${service.baseAddress} with --seed ${seed} …`);

  const stopping = stopOnSignals();
  const showAdded = showProgress('pets', count);
  let added = 0;
  const indexes = Array(count).keys();
  async function addInTurn(): Promise<void> {
    for (const index of indexes) {
      await addPet(service, seed, index, stopping.signal);
      showAdded((added += 1));
      if (stopping.signal.aborted) return;
    }
  }
  const clients = Array.from({ length: concurrency }, addInTurn);
  await Promise.all(clients.map((client) => client.catch((error: unknown) => stopping.abort(error))));

  if (added === count) {
    process.exitCode = 0;
    return console.log(`All ${count} pets are in the store.`);
  }
  const reason: unknown = stopping.signal.reason;
  if (!(reason instanceof UsageError)) throw reason;
  process.exitCode ??= 1;
  complain(
    `${reason.message} At least ${added} of ${count} pets are in the store. To add the others, run the same command with --seed ${seed} within ${IDEMPOTENCY_HOURS} hours of its first start.`,
  );
}

/** @returns a controller that Ctrl-C and its like abort; the exit code is then the signal's. */
function stopOnSignals(): AbortController {
  const stopping = new AbortController();
  // Once, though npm forwards a signal that the terminal has sent already.
  stopping.signal.addEventListener('abort', () => complain('Waiting for the requests in progress …'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal];
      stopping.abort(new UsageError('Stopped.'));
    });
  }
  return stopping;
}

/** Prints a sentence; on a terminal, below the progress bar. */
function complain(sentence: string): void {
  console.error(`${process.stderr.isTTY ? '\n' : ''}${plain(sentence)}`);
}

await runCommand(seedStore);
