import { integerOption, seedOption, runWithOptions } from '../../infra/command.ts';
import { synthesizeStaging } from '../support/assembly.ts';
import { startFunctionsTarget } from './functions.ts';
import { fuzz, type Target } from './fuzz.ts';
import { startLocalServiceTarget } from './wire.ts';

// `npm run fuzz` runs the same checks as fuzz.proof.ts, but with more cases.

const USAGE = `npm run fuzz -- [--cases 10000] [--seed N]

  --cases  number of test cases, half for the functions and half for the local service
  --seed   seed of an earlier run, to generate the same requests again (default: random)`;

const options = { cases: { type: 'string', default: '10000' }, seed: { type: 'string' } } as const;

await runWithOptions(USAGE, options, async (values) => {
  const cases = Math.ceil(integerOption('--cases', values.cases, 2, 10_000_000) / 2);
  const seed = seedOption('--seed', values.seed);
  console.log(`${2 * cases} cases, seed ${seed}`);
  const assembly = await synthesizeStaging();
  await run(await startFunctionsTarget(assembly), { seed, cases });
  await run(await startLocalServiceTarget(assembly), { seed, cases });
});

async function run<T>(target: Target<T>, sample: { seed: number; cases: number }): Promise<void> {
  try {
    await fuzz(target, sample);
    console.log(`${target.name}: no case failed`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    await target.close();
  }
  console.table(target.outcomes);
}
