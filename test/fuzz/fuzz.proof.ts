import { expect, test } from '@jest/globals';
import { sharedSynthesis } from '../support/assembly.ts';
import { reportFigure } from '../support/proofs-reporter.ts';
import { seedOption } from '../../infra/command.ts';
import { startFunctionsTarget } from './functions.ts';
import { fuzz, type Target } from './fuzz.ts';
import { startLocalServiceTarget } from './wire.ts';

const CASES = 500;
const seed = seedOption('FUZZ_SEED', process.env['FUZZ_SEED']);

test.each<[string, (assembly: string) => Promise<Target<any>>, string[]]>([
  ['the functions', startFunctionsTarget, ['CreatePet 201', 'CreatePet 422', 'ListPets 200', 'GetPet 200']],
  [
    'the local service',
    startLocalServiceTarget,
    ['POST /v1/pets 201', 'missing key 401', 'other method 405', 'invalid HTTP 400', 'too long 431'],
  ],
])(`${CASES} generated requests to %s get the documented responses`, async (name, start, expected) => {
  const target = await start((await sharedSynthesis()).assembly);
  try {
    await fuzz(target, { seed, cases: CASES });
  } finally {
    await target.close();
  }
  expect(Object.keys(target.outcomes)).toEqual(expect.arrayContaining(expected));
  reportFigure(import.meta.filename, `${CASES} requests to each target, seed ${seed}`);
});
