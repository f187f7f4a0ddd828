import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../../support/assembly.ts';

const synthesized = await sharedSynthesis();

describe('cdk synth', () => {
  test('makes the stacks of the account and of both stages', () => {
    expect(synthesized).toMatchObject({ code: 0, stdout: '' });
    expect([...stacksOf().keys()].toSorted()).toEqual([
      'PetStore-account',
      'PetStore-production',
      'PetStore-staging',
    ]);
  });

  test('has the stack of the account deployed before that of a stage', () => {
    const stacks = stacksOf();
    expect(stacks.get('PetStore-staging')?.dependencies).toContain('PetStore-account');
    expect(stacks.get('PetStore-production')?.dependencies).toContain('PetStore-account');
  });

  test('protects the account and production from being deleted by mistake', () => {
    const isProtected = [...stacksOf()].map(([name, { properties }]) => [
      name,
      properties.terminationProtection,
    ]);
    expect(Object.fromEntries(isProtected)).toEqual({
      'PetStore-account': true,
      'PetStore-staging': false,
      'PetStore-production': true,
    });
  });

  describe('checks every stack by the rules of AWS', () => {
    test('and finds nothing that is not acknowledged', () => {
      const { conclusion, violations } = nagReport();
      expect({ conclusion, violations }).toEqual({ conclusion: 'success', violations: [] });
    });

    test('and takes an acknowledgement with its reason, at the construct', () => {
      const acknowledgements = nagReport().suppressedViolations;
      expect(acknowledgements).not.toHaveLength(0);
      for (const { acknowledgedAt, reason } of acknowledgements) {
        // Not at a whole stack or app, where it would hold for what is yet to come.
        expect(acknowledgedAt).toMatch(/^PetStore-\w+\/\w/);
        expect(reason).toMatch(/^[A-Z].*\.$/);
      }
    });
  });
});

interface Artifact {
  type: string;
  properties: { terminationProtection: boolean };
  dependencies: string[];
}

/** The stacks in the assembly's manifest, which the CDK deploys by. */
function stacksOf(): Map<string, Artifact> {
  const { artifacts } = readReport('manifest.json');
  return new Map(
    Object.entries<Artifact>(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack'),
  );
}

function nagReport() {
  const { pluginReports } = readReport('validation-report.json');
  return pluginReports.find(({ pluginName }: any) => pluginName === 'AwsSolutions');
}

function readReport(name: string): any {
  return JSON.parse(readFileSync(join(synthesized.assembly, name), 'utf8'));
}
