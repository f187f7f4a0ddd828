import { expect, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { faultNames } from '../support/fault-proxy.ts';
import { seedOption } from '../../infra/operate/integer-option.ts';
import { reportFigure } from '../support/proofs-reporter.ts';
import { runExperiment } from './experiment.ts';

test('500 creates with a mix of all faults create exactly the requested pets', async () => {
  const { assembly } = await sharedSynthesis();
  const template = readTemplate('staging', assembly);
  const seed = seedOption('CHAOS_SEED', process.env['CHAOS_SEED']);
  const findings = await runExperiment({ template, creates: 500, seed, faultPercent: 20 });

  const { broken, acknowledged } = findings;
  const faults = faultNames.reduce((sum, name) => sum + findings.injected[name]!, 0);
  reportFigure(
    import.meta.filename,
    `${acknowledged} pets, ${faults} faults, ${broken.length} promises broken, seed ${seed}`,
  );
  expect({ seed, broken, acknowledged }).toEqual({ seed, broken: [], acknowledged: 500 });
  expect(findings.responses).toMatchObject({ 'POST 503': expect.any(Number), 'GET 200': expect.any(Number) });
  for (const name of faultNames) expect(findings.injected[name]).toBeGreaterThan(0);
});
