import { expect, test } from '@jest/globals';
import { sharedSynthesis } from '../support/assembly.ts';
import { fuzz } from './fuzz.ts';
import { startFunctions } from './targets.ts';

// This test runs a few cases with a fixed seed. fuzz.proof.ts runs more cases with a random seed.
test('the functions respond to generated requests as documented', async () => {
  const target = await startFunctions((await sharedSynthesis()).assembly);
  await expect(fuzz(target, { seed: 20_261_122, cases: 40 })).resolves.toBeDefined();
});
