import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stackName } from '../../../shared/names.ts';
import { cdkSynth, synthesizeStaging } from '../../support/assembly.ts';
import { errorOutput, runModule } from '../../support/run-command.ts';
import { functionNames } from '../../support/stack-template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { copyProject } from '../../support/project-copy.ts';

const folder = temporaryFolder();

describe('cdk synth', () => {
  // If the output were not reproducible, diffs of templates would contain more than the actual changes.
  test('writes identical deployment files in every run', async () => {
    const first = join(folder, 'first');
    expect(await cdkSynth(first, { stages: 'infra/stages.ts' })).toMatchObject({ code: 0, stdout: '' });
    const files = deployedFilesOf(first);
    const bundles = [...files.keys()].filter((file) => file.endsWith('.mjs'));
    expect(bundles.length).toBeGreaterThanOrEqual(functionNames.length);
    expect(files.get(`${stackName('staging')}.template.json`)).toBeDefined();
    expect(deployedFilesOf(await synthesizeStaging())).toEqual(files);
  });

  test('is compared with the deployed stack for those who approve its deployment', async () => {
    const [assembly, deployed] = [await synthesizeStaging(), join(folder, 'deployed')];
    mkdirSync(deployed);
    const stacks = ['account', 'production'].map(stackName);
    for (const stack of stacks) {
      const file = `${stack}.template.json`;
      const template = readFileSync(join(assembly, file), 'utf8').replaceAll(
        /"Timeout": *10/g,
        '"Timeout":3',
      );
      writeFileSync(join(deployed, file), template);
    }
    const parameters = [deployed, assembly, join(folder, 'diff'), ...stacks];
    const summary = execFileSync('.github/template-diff.sh', parameters, { encoding: 'utf8' });
    const [, account, production] = summary.split('### ');
    expect(account).toBe(`${stacks[0]}\n\nNo differences.\n\n`);
    expect(production).toMatch(/Timeout\n.*\[-\] 3\n.*\[\+\] 10\n/);
    expect(summary).not.toContain(stackName('staging'));
  });

  test('writes only the ephemeral stage and the account stack if the context contains a stage', async () => {
    const assembly = join(folder, 'on-demand');
    const parameters = ['--context', 'stage=drill', '--context', 'based-on=production'];
    const stderr = expect.stringMatching(`Stacks in \\S+: ${stackName('account')}, ${stackName('drill')}\n`);
    expect(await cdkSynth(assembly, { parameters })).toMatchObject({ code: 0, stdout: '', stderr });
    const templates = [...deployedFilesOf(assembly).keys()].filter((file) => file.endsWith('.template.json'));
    expect(templates).toEqual(['account', 'drill'].map((stage) => `${stackName(stage)}.template.json`));
  });

  test('rejects an incomplete region', async () => {
    const outcome = await runModule('infra/app.ts', [], { CDK_DEFAULT_REGION: 'eu-central' });
    expect(errorOutput(outcome)).toBe('Set AWS_REGION to a region such as eu-central-1, not to eu-central.');
  });

  test('rejects credentials without a region, with which the CDK would deploy to us-east-1', async () => {
    const settings = { CDK_DEFAULT_REGION: 'us-east-1', CDK_DEFAULT_ACCOUNT: '123456789012' };
    const outcome = await runModule('infra/app.ts', [], settings);
    expect(errorOutput(outcome)).toMatch(/^Set AWS_REGION to the region of the stage, such as /);
  });

  test('reports unacknowledged cdk-nag findings and violations of CloudFormation rules', async () => {
    const stack = `app.node.findChild('${stackName('staging')}')`;
    const table = `${stack}.node.findChild('Storage').node.children[0].node.defaultChild`;
    const project = copyProject(folder);
    const lines = `
      import { Topic } from 'aws-cdk-lib/aws-sns';
      // This topic violates a cdk-nag rule because it accepts messages over plain HTTP.
      new Topic(${stack}, 'Unsafe');
      ${table}.addPropertyOverride('BilingMode', 'PAY_PER_REQUEST');
      // By default, the CDK would only print a warning for this value.
      ${table}.addPropertyOverride('BillingMode', 'FREE');`;
    project.write('infra/app.ts', project.read('infra/app.ts') + lines);
    // The command clears NODE_ENV, which Jest sets, because the CDK's report depends on this variable.
    const failure = await project.failureOf(
      `NODE_ENV= CDK_VALIDATION=true node node_modules/aws-cdk/bin/cdk synth ${stackName('staging')} --exclusively --quiet`,
      { HOME: folder },
    );
    const errors = failure.split('\n').filter((line) => line.startsWith('ERROR '));
    expect(errors.filter((line) => line.endsWith('(AwsSolutions)'))).toEqual([
      expect.stringMatching(/The SNS Topic does not require publishers to use SSL\. \(AwsSolutions\)$/),
    ]);
    expect(errors.filter((line) => line.endsWith('(CloudFormation Validate)')).toSorted()).toEqual([
      expect.stringMatching(/BilingMode.*/),
      expect.stringMatching(/FREE.*/),
    ]);
  });
});

/**
 * Returns the hash of each file that a deployment uses, by path. Omits files that only describe the synthesis, such as
 * `performance-counters.json`, because its durations differ in each run.
 */
function deployedFilesOf(assembly: string): Map<string, string> {
  const files = readdirSync(assembly, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(manifest\.json|asset\..*\.mjs|.*\.(assets|template)\.json)$/.test(file))
    .toSorted();
  return new Map(files.map((file) => [file, hash('sha256', readFileSync(join(assembly, file)))]));
}
