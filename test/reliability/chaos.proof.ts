import { expect, test } from '@jest/globals';
import { stagingTemplate } from '../support/real-database.ts';
import { faultNames } from '../support/fault-proxy.ts';
import { seedOption } from '../../infra/command.ts';
import { runExperiment } from './experiment.ts';

test('the guarantees for creates hold despite a mix of all database faults', async () => {
  const template = await stagingTemplate();
  const seed = seedOption('CHAOS_SEED', process.env['CHAOS_SEED']);
  const findings = await runExperiment(template, 500, seed);

  const { violations, acknowledged } = findings;
  expect({ seed, violations, acknowledged }).toEqual({ seed, violations: [], acknowledged: 500 });
  expect(findings.responses).toMatchObject({ 'POST 503': expect.any(Number), 'GET 200': expect.any(Number) });
  for (const name of faultNames) expect(findings.injected[name]).toBeGreaterThan(0);
});
