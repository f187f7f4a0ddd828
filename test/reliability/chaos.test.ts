import { afterEach, expect, jest, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { faultNames } from '../support/fault-proxy.ts';
import { seedOption } from '../../infra/operate/integer-option.ts';
import { runExperiment } from './experiment.ts';

jest.setTimeout(120_000); // for faults that are waited for, on a busy machine

afterEach(() => {
  jest.restoreAllMocks();
});

test('500 creates under a mix of all faults make exactly the pets that were asked for', async () => {
  const { assembly } = await sharedSynthesis();
  const template = readTemplate('staging', assembly);
  const seed = seedOption('CHAOS_SEED', process.env['CHAOS_SEED']);
  jest.spyOn(console, 'error').mockImplementation(() => {}); // of the authorizer, which throws
  const findings = await runExperiment({ template, creates: 500, seed, faultPercent: 20 });

  console.log(`CHAOS_SEED=${seed} chooses the same faults.`);
  const { broken, acknowledged } = findings;
  expect({ seed, broken, acknowledged }).toEqual({ seed, broken: [], acknowledged: 500 });
  expect(findings.answers).toMatchObject({ 'POST 503': expect.any(Number), 'GET 200': expect.any(Number) });
  for (const name of faultNames) expect(findings.injected[name]).toBeGreaterThan(0);
});
