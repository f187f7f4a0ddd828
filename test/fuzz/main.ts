import { runWithOptions } from '../../infra/operate/command.ts';
import { integerOption, seedOption } from '../../infra/operate/integer-option.ts';
import { synthesizeStaging } from '../support/assembly.ts';
import { startFunctions } from './functions.ts';
import { fuzz, type Target } from './fuzz.ts';
import { startWire } from './wire.ts';

// `npm run fuzz`: test/fuzz/fuzz.proof.ts with more cases.

const USAGE = `npm run fuzz -- [--cases 10000] [--seed N]

  --cases  how many requests to generate, half of them for the functions and half for the local service
  --seed   repeats the requests of another run; random if omitted`;

const options = { cases: { type: 'string', default: '10000' }, seed: { type: 'string' } } as const;

await runWithOptions(USAGE, options, async (values) => {
  const cases = Math.ceil(integerOption('--cases', values.cases, 2, 10_000_000) / 2);
  const seed = seedOption('--seed', values.seed);
  console.log(`${2 * cases} cases, seed ${seed}`);
  const assembly = await synthesizeStaging();
  await run(await startFunctions(assembly), { seed, cases });
  await run(await startWire(assembly), { seed, cases });
});

async function run<T>(target: Target<T>, sample: { seed: number; cases: number }): Promise<void> {
  try {
    await fuzz(target, sample);
    console.log(`No case failed: ${target.name}`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    await target.close();
  }
  console.table(target.outcomes);
}
