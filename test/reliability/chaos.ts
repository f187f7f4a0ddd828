import { parseArgs } from 'node:util';
import { runCommand } from '../../infra/operate/command.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { showProgress } from '../../infra/operate/progress.ts';
import { integerOption, seedOption } from '../../infra/operate/integer-option.ts';
import { synthesizeStaging } from '../support/temporary-assembly.ts';
import { type Findings, runExperiment } from './experiment.ts';

// `npm run chaos`: the experiment of test/reliability/chaos.proof.ts at length.

const USAGE = `npm run chaos -- [--creates 10000] [--seed N] [--faults 20]

  --creates  how many pets to ask for
  --seed     which call meets which fault; who makes that call is up to a race. Any without
  --faults   how many calls to the database out of a hundred meet a fault`;

const printError = console.error;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      creates: { type: 'string', default: '10000' },
      seed: { type: 'string' },
      faults: { type: 'string', default: '20' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const creates = integerOption('--creates', values.creates, 1, 1_000_000);
  const seed = seedOption('--seed', values.seed);
  const faultPercent = integerOption('--faults', values.faults, 0, 90);

  console.log(`${creates} creates, ${faultPercent} % faults, seed ${seed}`);
  const template = readTemplate('staging', await synthesizeStaging());
  const onProgress = showProgress('creates', creates);
  try {
    console.error = () => {}; // what the authorizer throws, for which the API has no other place here
    print(await runExperiment({ template, creates, seed, faultPercent, onProgress }));
  } finally {
    console.error = printError;
  }
}

function print({ injected, answers, broken, ...figures }: Findings): void {
  console.table(injected);
  console.table(answers);
  console.table(figures);
  for (const sentence of broken) console.log(sentence);
  console.log(broken.length > 0 ? `Promises broken: ${broken.length}` : 'No promise was broken.');
  if (broken.length > 0) process.exitCode = 1;
}

await runCommand(main);
