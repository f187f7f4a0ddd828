import { integerOption, seedOption, runWithOptions } from '../../command.ts';
import { showProgress } from '../progress.ts';
import { addPet } from './client.ts';
import { findService, options, USAGE } from './options.ts';

await runWithOptions(USAGE, options, async (values) => {
  const count = integerOption('--count', values.count, 1, 1_000_000);
  const seed = seedOption('--seed', values.seed);
  const concurrency = integerOption('--concurrency', values.concurrency, 1, 100);
  const service = await findService(values.data, process.env);
  console.log(`Adding ${count} pets to ${service.baseUrl} with --seed ${seed} …`);

  const showAdded = showProgress('pets', count);
  let added = 0;
  const indexes = Array(count).keys();
  async function addInTurn(): Promise<void> {
    for (const index of indexes) {
      await addPet(service, seed, index);
      showAdded((added += 1));
    }
  }
  await Promise.all(Array.from({ length: concurrency }, addInTurn));
  console.log(`All ${count} pets are in the store.`);
});
