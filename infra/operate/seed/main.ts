import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { constants } from 'node:os';
import { onInterrupt, runWithOptions, UsageError } from '../command.ts';
import { integerOption, seedOption } from '../integer-option.ts';
import { showProgress } from '../progress.ts';
import { addPet } from './client.ts';
import { findService, options, USAGE } from './options.ts';

// `npm run seed`: fills a store with made-up pets, each exactly once even if the run is interrupted.

await runWithOptions(USAGE, options, async (values) => {
  const count = integerOption('--count', values.count, 1, 1_000_000);
  const seed = seedOption('--seed', values.seed);
  const concurrency = integerOption('--concurrency', values.concurrency, 1, 100);
  const service = await findService(values, process.env);
  console.log(`Adding ${count} pets to ${service.baseAddress} with --seed ${seed} …`);

  const stopping = new AbortController();
  onInterrupt((signal) => {
    console.error('Waiting for the requests in progress …');
    process.exitCode = 128 + constants.signals[signal];
    stopping.abort(new UsageError('Stopped.'));
  });
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

  if (added < count) {
    const reason: unknown = stopping.signal.reason;
    if (!(reason instanceof UsageError)) throw reason;
    throw new UsageError(
      `${reason.message} At least ${added} of ${count} pets are in the store. To add the others, run the same command with --seed ${seed} within ${IDEMPOTENCY_HOURS} hours of its first start.`,
    );
  }
  process.exitCode = 0;
  console.log(`All ${count} pets are in the store.`);
});
