import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cdkSynth, sharedSynthesis, synthesizeStaging } from '../../support/assembly.ts';
import { reportFigure } from '../../support/proofs-reporter.ts';
import { functionNames } from '../../support/stack-template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();

describe('cdk synth', () => {
  // So that a diff shows only what was changed.
  test('makes the same to deploy, byte for byte, whenever it is run, as what npm start runs', async () => {
    const { assembly: first } = await sharedSynthesis();
    const second = join(folder, 'second');
    expect(await cdkSynth(second)).toMatchObject({ code: 0, stdout: '' });
    const files = deployedFilesOf(first);
    expect(files).toEqual(
      expect.arrayContaining(['PetStore-staging.template.json', 'PetStore-production.assets.json']),
    );
    expect(files.filter((file) => file.endsWith('index.mjs'))).toHaveLength(functionNames.length);
    for (const other of [second, await synthesizeStaging()]) {
      expect(deployedFilesOf(other)).toEqual(files);
      const different = files.filter(
        (file) => !readFileSync(join(first, file)).equals(readFileSync(join(other, file))),
      );
      expect(different).toEqual([]);
    }
    reportFigure(import.meta.filename, `${files.length} files, byte for byte the same`);
  });

  test('makes of a stage on demand its stack and that of the account, and no other', async () => {
    const assembly = join(folder, 'on-demand');
    const context = ['--context', 'stage=drill', '--context', 'like=production'];
    expect(await cdkSynth(assembly, context)).toMatchObject({ code: 0, stdout: '' });
    const templates = deployedFilesOf(assembly).filter((file) => file.endsWith('.template.json'));
    expect(templates).toEqual(['PetStore-account.template.json', 'PetStore-drill.template.json']);
  });

  test('rejects a bad setting with one sentence', async () => {
    const { code, stdout, stderr } = await cdkSynth(join(folder, 'settings'), [], {
      'infra/stages.ts': 'Object.assign(stages.staging, { recordedListPartitions: 2 });',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'Stage staging: listPartitions must not shrink below the recorded 2, but is 1: pets under the keys beyond would vanish from lists.',
      // The CDK's own last line.
      'node infra/app.ts: Subprocess exited with error 1',
    ]);
  });

  test('rejects findings of cdk-nag that are not acknowledged, and what CloudFormation would reject', async () => {
    const table = "app.node.findChild('PetStore-staging').node.findChild('Storage').pets.node.defaultChild";
    const { code, stderr } = await cdkSynth(join(folder, 'rejected'), ['PetStore-staging', '--exclusively'], {
      'infra/app.ts': `
          import { Topic } from 'aws-cdk-lib/aws-sns';
          // It accepts messages over plain HTTP.
          new Topic(app.node.findChild('PetStore-staging'), 'Unsafe');
          ${table}.addPropertyOverride('BilingMode', 'PAY_PER_REQUEST');
          // The CDK by itself would only warn of this.
          ${table}.addPropertyOverride('BillingMode', 'FREE');`,
    });
    expect(code).toBe(1);
    const errors = stderr.split('\n').filter((line) => line.startsWith('ERROR '));
    expect(errors.filter((line) => line.endsWith('(AwsSolutions)'))).toEqual([
      expect.stringMatching(/The SNS Topic does not require publishers to use SSL\. \(AwsSolutions\)$/),
    ]);
    expect(errors.filter((line) => line.endsWith('(CloudFormation Validate)')).toSorted()).toEqual([
      expect.stringMatching(/BilingMode.*/),
      expect.stringMatching(/FREE.*/),
    ]);
  });
});

/** @returns the files that are deployed, without reports on the synth itself, such as how long it took. */
function deployedFilesOf(assembly: string): string[] {
  return readdirSync(assembly, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(manifest\.json|asset\..*\.mjs|.*\.(assets|template)\.json)$/.test(file))
    .toSorted();
}
