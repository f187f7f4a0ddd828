import { parseArgs } from 'node:util';
import { runCommand } from '../../infra/operate/command.ts';
import { showProgress } from '../../infra/operate/progress.ts';
import { integerOption, seedOption } from '../../infra/operate/integer-option.ts';
import { synthesizeStaging } from '../support/temporary-assembly.ts';
import { startHandlers } from './handlers.ts';
import { fuzz, type Target } from './fuzz.ts';
import { startWire } from './wire.ts';

// `npm run fuzz`: the generated requests of test/fuzz/fuzz.proof.ts at length.

const USAGE = `npm run fuzz -- [--cases 10000] [--seed N]

  --cases  how many to generate, half of them for the functions and half for the local service
  --seed   which ones, to see them again; any others without`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: '10000' },
      seed: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const cases = integerOption('--cases', values.cases, 2, 10_000_000);
  const seed = seedOption('--seed', values.seed);

  console.log(`${cases} cases, seed ${seed}`);
  const assembly = await synthesizeStaging();
  await run(await startHandlers(assembly), seed, Math.floor(cases / 2));
  await run(await startWire(assembly), seed, Math.ceil(cases / 2));
  console.log(process.exitCode ? 'A case failed.' : 'No case failed.');
}

async function run<T>(target: Target<T>, seed: number, cases: number): Promise<void> {
  const advance = showProgress(target.name, cases);
  let done = 0;
  try {
    // Beyond the number of cases, it looks for a smaller one that fails.
    await fuzz(target, { seed, cases, onCase: () => advance(Math.min((done += 1), cases)) });
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    await target.close();
  }
  const outcomes = Array.from(target.outcomes).toSorted(([one], [other]) => one.localeCompare(other));
  console.table(
    Object.fromEntries(outcomes.map(([outcome, count]) => [`${target.name}: ${outcome}`, count])),
  );
}

await runCommand(main);
