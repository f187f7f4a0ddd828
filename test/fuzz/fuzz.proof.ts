import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sharedSynthesis } from '../support/assembly.ts';
import { reportFigure } from '../support/figures.ts';
import { seedOption } from '../../infra/operate/integer-option.ts';
import { startHandlers } from './handlers.ts';
import { fuzz, type Target } from './fuzz.ts';
import { startWire } from './wire.ts';

const CASES = 500;
const seed = seedOption('FUZZ_SEED', process.env['FUZZ_SEED']);

describe.each<[string, (assembly: string) => Promise<Target<any>>, string[]]>([
  [
    'The functions answer',
    startHandlers,
    ['createPet 201', 'createPet 400', 'listPets 200', 'getPet 200', 'Allow', 'Deny'],
  ],
  [
    'The local service answers',
    startWire,
    [
      'POST /v1/pets 201',
      'GET /v1/pets 200',
      'no key 401',
      'other address 404',
      'other method 405',
      'no HTTP 400',
    ],
  ],
])('%s', (_who, start, expectedOutcomes) => {
  let target: Target<any> | undefined;
  beforeAll(async () => {
    target = await start((await sharedSynthesis()).assembly);
  });
  afterAll(() => target?.close());

  test(`${CASES} generated requests as the interface promises`, async () => {
    const { name, outcomes } = target!;
    console.log(`${name}: FUZZ_SEED=${seed} generates these requests again.`);
    await fuzz(target!, { seed, cases: CASES });
    reportFigure(import.meta.filename, `${CASES} requests to each target, seed ${seed}`);
    expect(Object.fromEntries(outcomes)).toMatchObject(
      Object.fromEntries(expectedOutcomes.map((outcome) => [outcome, expect.any(Number)])),
    );
  });
});
