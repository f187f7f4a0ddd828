import { expect, test } from '@jest/globals';
import { seedOption } from '../../infra/command.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { create, get, list } from '../support/sample.ts';
import { operations } from './documented.ts';
import { fuzz } from './fuzz.ts';
import { startFunctions, startService } from './targets.ts';

const CASES = 500;
const seed = seedOption('FUZZ_SEED', process.env['FUZZ_SEED']);

test.each([
  ['the functions', startFunctions],
  ['the local service', startService],
])(`${CASES} generated test cases get the documented responses from %s`, async (_name, start) => {
  const outcomes = await fuzz(await start((await sharedSynthesis()).assembly), { seed, cases: CASES });
  const expected = [
    ...[create, list, get].map(({ id, success }) => `${id} ${success.status}`),
    ...operations.map(({ id }) => expect.stringMatching(`^${id} `)),
    'rejected 401',
    'rejected 405',
  ];
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(expected));
});
