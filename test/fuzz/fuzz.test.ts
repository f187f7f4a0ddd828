import { expect, test } from '@jest/globals';
import { sharedSynthesis } from '../support/assembly.ts';
import { fuzz } from './fuzz.ts';
import { startFunctions } from './functions.ts';

// A few cases, the same in every run. `fuzz.proof.ts` generates more, others each time, and some for the local service.
test('the functions respond to generated requests as the interface promises', async () => {
  const target = await startFunctions((await sharedSynthesis()).assembly);
  try {
    await expect(fuzz(target, { seed: 20_261_122, cases: 40 })).resolves.toBeUndefined();
  } finally {
    await target.close();
  }
});
