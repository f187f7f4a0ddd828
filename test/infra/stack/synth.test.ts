import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cdkSynth, sharedSynthesis } from '../../support/assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { functionNames } from '../../support/stack-template.ts';

const folder = temporaryFolder();
const second = join(folder, 'second');

const table = "app.node.findChild('PetStore-staging').node.findChild('Storage').pets.node.defaultChild";
const staging = ['PetStore-staging', '--exclusively'];

const [synthesized, again, refused] = await Promise.all([
  sharedSynthesis(),
  cdkSynth(second),
  cdkSynth(join(folder, 'refused'), staging, {
    'infra/app.ts': `
      import { Topic } from 'aws-cdk-lib/aws-sns';
      // It takes messages over plain HTTP.
      new Topic(app.node.findChild('PetStore-staging'), 'Unsafe');
      ${table}.addPropertyOverride('BilingMode', 'PAY_PER_REQUEST');
      // Of which the CDK by itself would only warn.
      ${table}.addPropertyOverride('BillingMode', 'FREE');`,
  }),
]);

const first = synthesized.assembly;

describe('cdk synth', () => {
  test('makes the stacks of the account and of both stages', () => {
    expect(synthesized).toMatchObject({ code: 0, stdout: '' });
    expect([...stacksOf(first).keys()].toSorted()).toEqual([
      'PetStore-account',
      'PetStore-production',
      'PetStore-staging',
    ]);
  });

  test('has the stack of the account deployed before that of a stage', () => {
    const stacks = stacksOf(first);
    expect(stacks.get('PetStore-staging')?.dependencies).toContain('PetStore-account');
    expect(stacks.get('PetStore-production')?.dependencies).toContain('PetStore-account');
  });

  test('protects the account and production from being deleted by mistake', () => {
    const isProtected = [...stacksOf(first)].map(([name, { properties }]) => [
      name,
      properties.terminationProtection,
    ]);
    expect(Object.fromEntries(isProtected)).toEqual({
      'PetStore-account': true,
      'PetStore-staging': false,
      'PetStore-production': true,
    });
  });

  // So that there is a difference only where something was changed.
  test('makes the same to deploy, byte for byte, whenever it is run', () => {
    expect(again).toMatchObject({ code: 0, stdout: '' });
    const files = deployedFilesOf(first);
    expect(files).toEqual(
      expect.arrayContaining(['PetStore-staging.template.json', 'PetStore-production.assets.json']),
    );
    expect(files.filter((file) => file.endsWith('index.mjs'))).toHaveLength(functionNames.length);
    expect(deployedFilesOf(second)).toEqual(files);
    const different = files.filter(
      (file) => !readFileSync(join(first, file)).equals(readFileSync(join(second, file))),
    );
    expect(different).toEqual([]);
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

    test('and fails by what nobody acknowledged', () => {
      expect(refused.code).toBe(1);
      expect(errorsBy('AwsSolutions')).toEqual([
        expect.stringMatching(/The SNS Topic does not require publishers to use SSL\. \(AwsSolutions\)$/),
      ]);
    });
  });

  test('fails by a template that CloudFormation would refuse', () => {
    expect(refused.code).toBe(1);
    expect(errorsBy('CloudFormation Validate').toSorted()).toEqual([
      expect.stringMatching(/BilingMode.*\(CloudFormation Validate\)$/),
      expect.stringMatching(/FREE.*\(CloudFormation Validate\)$/),
    ]);
  });
});

interface Artifact {
  type: string;
  properties: { terminationProtection: boolean };
  dependencies: string[];
}

/** The stacks in the assembly's manifest, which the CDK deploys by. */
function stacksOf(assembly: string): Map<string, Artifact> {
  const { artifacts } = readJson(join(assembly, 'manifest.json'));
  return new Map(
    Object.entries<Artifact>(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack'),
  );
}

function nagReport() {
  const { pluginReports } = readJson(join(first, 'validation-report.json'));
  return pluginReports.find(({ pluginName }: any) => pluginName === 'AwsSolutions');
}

function errorsBy(check: string): string[] {
  return refused.stderr
    .split('\n')
    .filter((line) => line.startsWith('ERROR ') && line.endsWith(`(${check})`));
}

/** All but reports on the synth itself, such as how long it took when that was long. */
function deployedFilesOf(assembly: string): string[] {
  return readdirSync(assembly, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(assembly, join(parentPath, name)))
    .filter((file) => /^manifest\.json$|^asset\.|\.(assets|template)\.json$/.test(file))
    .toSorted();
}

function readJson(file: string): any {
  return JSON.parse(readFileSync(file, 'utf8'));
}
