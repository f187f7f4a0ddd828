import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stackName } from '../../shared/names.ts';
import { synthesize } from '../../infra/synthesize.ts';
import { cdkSynth } from '../support/assembly.ts';
import { errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyProject } from '../support/project-copy.ts';
import { jobsIn, scriptsIn } from '../project/workflows.ts';

const folder = temporaryFolder();
/** The stacks of infra/stages.ts, as `npm start` synthesizes them. */
const unchecked = join(folder, 'unchecked');
await synthesize(unchecked);

describe('cdk synth', () => {
  // If the output were not reproducible, diffs of templates would contain more than the actual changes.
  test('writes identical deployment files in every run', async () => {
    const first = join(folder, 'first');
    expect(await cdkSynth(first, { stages: 'infra/stages.ts' })).toMatchObject({ code: 0, stdout: '' });
    const files = deployedFilesOf(first);
    expect([...files.keys()].join('\n')).toMatch(/^asset\..*\.mjs$/m);
    expect(files.get(`${stackName('staging')}.template.json`)).toBeDefined();
    expect(deployedFilesOf(unchecked)).toEqual(files);
  });

  test('accepts a cdk-nag finding only if its construct acknowledges the finding, and warns if alarms tell nobody', async () => {
    const assembly = join(folder, 'checked');
    expect(await cdkSynth(assembly)).toMatchObject({ code: 0, stdout: '' });
    const { pluginReports } = JSON.parse(readFileSync(join(assembly, 'validation-report.json'), 'utf8'));
    const reportOf = (plugin: string) => pluginReports.find(({ pluginName }: any) => pluginName === plugin);
    const nag = reportOf('AwsSolutions');
    expect(nag).toMatchObject({ conclusion: 'success', violations: [] });
    expect(nag.suppressedViolations).not.toHaveLength(0);
    for (const { acknowledgedAt, reason } of nag.suppressedViolations) {
      // Acknowledgments for a stack or the app are not allowed, because they would also cover new constructs.
      expect(acknowledgedAt).toMatch(/^[\w-]+\/\w/);
      expect(reason).toMatch(/^[A-Z].*\.$/);
    }
    // constructs.test.ts tests when there are which warnings.
    const warnings = reportOf('Construct Annotations').violations.map(({ ruleName }: any) => ruleName);
    expect(warnings).toEqual(['Annotation::alarmEmail']);
  });

  test('writes only the ephemeral stage and the account stack if the context contains a stage', async () => {
    const assembly = join(folder, 'on-demand');
    const parameters = ['--context', 'stage=drill', '--context', 'based-on=production'];
    const stderr = expect.stringMatching(`Stacks in \\S+: ${stackName('account')}, ${stackName('drill')}\n`);
    expect(await cdkSynth(assembly, { parameters })).toMatchObject({ code: 0, stdout: '', stderr });
    const templates = [...deployedFilesOf(assembly).keys()].filter((file) => file.endsWith('.template.json'));
    expect(templates).toEqual(['account', 'drill'].map((stage) => `${stackName(stage)}.template.json`));
  });

  // Otherwise, the CDK would deploy to us-east-1, or fail much later.
  test.each([
    [
      'an incomplete region',
      { CDK_DEFAULT_REGION: 'eu-central' },
      /^Set AWS_REGION .*, not to eu-central\.$/,
    ],
    [
      'credentials without a region',
      { CDK_DEFAULT_REGION: 'us-east-1', CDK_DEFAULT_ACCOUNT: '123456789012' },
      /^Set AWS_REGION to the region of the stage, /,
    ],
  ])('rejects %s', async (_what, settings, message) => {
    expect(errorOutput(await runModule('infra/app.ts', [], settings))).toMatch(message);
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
    // The lines use classes of which the compiler sees only interfaces.
    project.write('infra/app.ts', `// @ts-nocheck\n${project.read('infra/app.ts')}${lines}`);
    // The command clears NODE_ENV, which Jest sets, because the CDK's report depends on this variable.
    const failure = await project.failureOf(
      `NODE_ENV= CDK_VALIDATION=true npx cdk synth ${stackName('staging')} --exclusively --quiet`,
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

test('the workflow shows how a deployment changes production, and nothing of staging', async () => {
  const [production, account] = ['production', 'account'].map(stackName) as [string, string];
  const project = mkdtempSync(join(folder, 'run-'));
  symlinkSync(resolve('.github'), join(project, '.github'));
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
  symlinkSync(unchecked, join(project, 'cdk.out'));
  const older = JSON.parse(readFileSync(join(unchecked, `${production}.template.json`), 'utf8'));
  older.Description = 'An older description';
  writeFileSync(join(project, `${production}.json`), JSON.stringify(older));
  copyFileSync(join(unchecked, `${account}.template.json`), join(project, `${account}.json`));
  const script = jobsIn('deploy.yml')
    .flatMap(scriptsIn)
    .find((one) => one.includes('get-template'))!;
  const aws = `aws() { test "$1 $2" = 'cloudformation get-template' && cat "$4.json"; }`;
  const summary = join(project, 'summary.md');
  const env = { ...process.env, GITHUB_STEP_SUMMARY: summary };
  execFileSync('bash', ['-ec', `${aws}\n${script}`], { cwd: project, env });
  const text = readFileSync(summary, 'utf8');
  expect(text).toContain(`### ${account}\n\nNo differences.\n`);
  expect(text).toMatch(new RegExp(`### ${production}\\n[^]*An older description`));
  expect(text).not.toContain(stackName('staging'));
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
