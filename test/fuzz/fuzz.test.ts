import { describe, expect, test } from '@jest/globals';
import { sharedSynthesis } from '../support/assembly.ts';
import { fuzz, type Target } from './fuzz.ts';
import { startHandlers } from './handlers.ts';
import { startWire } from './wire.ts';

// A few cases with the same seed in every run; `fuzz.proof.ts` generates more, and others each time.
const SAMPLE = { seed: 20_261_122, cases: 40 };

describe.each<[string, (assembly: string) => Promise<Target<any>>]>([
  ['the functions', startHandlers],
  ['the local service', startWire],
])('Generated requests to %s', (_name, start) => {
  test('get the responses that the interface promises', async () => {
    const target = await start((await sharedSynthesis()).assembly);
    try {
      await expect(fuzz(target, SAMPLE)).resolves.toBeUndefined();
    } finally {
      await target.close();
    }
  });
});
