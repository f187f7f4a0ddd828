import { integerOption, runWithOptions, seedOption } from '../../infra/command.ts';
import { synthesizeStaging } from '../support/assembly.ts';
import { fuzz } from './fuzz.ts';
import { startFunctions, startService } from './targets.ts';

// `npm run fuzz` runs the same checks as fuzz.proof.ts, but with more cases.

const USAGE = `npm run fuzz -- [--cases 10000] [--seed N]

Sends generated requests and checks that the responses are as documented.

  --cases  number of test cases, half for the functions and half for the local service
  --seed   seed of an earlier run, to generate the same requests again (default: random)`;

const options = { cases: { type: 'string', default: '10000' }, seed: { type: 'string' } } as const;

await runWithOptions(USAGE, options, async (values) => {
  const cases = Math.ceil(integerOption('--cases', values.cases, 2, 10_000_000) / 2);
  const seed = seedOption('--seed', values.seed);
  console.log(`${2 * cases} cases, seed ${seed}`);
  const assembly = await synthesizeStaging();
  for (const start of [startFunctions, startService])
    console.table(await fuzz(await start(assembly), { seed, cases }));
});
