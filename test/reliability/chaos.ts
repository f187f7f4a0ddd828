import { integerOption, seedOption, runWithOptions } from '../../infra/command.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { stackName } from '../../shared/names.ts';
import { synthesizeStaging } from '../support/assembly.ts';
import { runExperiment } from './experiment.ts';

const USAGE = `npm run chaos -- [--creates 10000] [--seed N]

Creates items of the first collection while database calls fail. The command fails if the service violates a guarantee or
a response takes too long, so run it on an idle machine.

  --creates  the number of items to create
  --seed     a number that determines the fault of each database call (default: random)`;

/** Longest accepted response time: 7.5 s for the authorizer, 9.5 s for a function, and a margin. */
const LONGEST_RESPONSE_MILLISECONDS = 25_000;

const options = { creates: { type: 'string', default: '10000' }, seed: { type: 'string' } } as const;

await runWithOptions(USAGE, options, async (values) => {
  const creates = integerOption('--creates', values.creates, 1, 1_000_000);
  const seed = seedOption('--seed', values.seed);
  console.log(`${creates} creates, seed ${seed}`);
  const template = readTemplate(stackName('staging'), await synthesizeStaging());
  const { injected, responses, violations, ...figures } = await runExperiment(template, creates, seed);
  const { longestResponseMilliseconds } = figures;
  if (longestResponseMilliseconds > LONGEST_RESPONSE_MILLISECONDS)
    violations.push(`A response took ${longestResponseMilliseconds} ms.`);
  for (const table of [injected, responses, figures]) console.table(table);
  for (const sentence of violations) console.log(sentence);
  console.log(`Violated guarantees: ${violations.length}`);
  if (violations.length > 0) process.exitCode = 1;
});
