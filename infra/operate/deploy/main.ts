import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { onInterrupt, type OptionValues, projectRoot, runWithOptions, UsageError } from '../../command.ts';
import { probe } from '../probe.ts';
import { heldAliasesOf, readTemplate, requireHash } from './assembly.ts';
import { awsCli } from './aws-cli.ts';
import { deploy, goBack, type Tools } from './deploy.ts';

const USAGE = `npm run deploy -- --stage STAGE [OPTION ...]
npm run deploy -- --stage STAGE --back

Deploys a stage. If its settings have canaryDeployments, all functions get their new versions together, first for 10%, then
for 50% of the requests. If the stage then fails the probe, or a new version fails more often than the old version, all
requests go to the old versions again. Requires AWS CLI 2, AWS credentials and the stage's region in AWS_REGION. A stage with
canaryDeployments also requires an API key of the stage in API_KEY, which the probe uses.

  --stage           stage to deploy
  --based-on        stage in infra/stages.ts whose settings an ephemeral stage gets
  --assembly        folder with the output of cdk synth (default: a new synthesis)
  --sha256          hash of the assembly, as node infra/operate/deploy/print-hash.ts FOLDER prints it
  --all-at-once     gives all requests to the new versions at once, without probe and comparison
  --ignore-changes  deploys although somebody has changed the stack by hand
  --back            points all functions to their versions before the last deployment, and changes nothing else`;

const options = {
  stage: { type: 'string' },
  'based-on': { type: 'string' },
  assembly: { type: 'string' },
  sha256: { type: 'string' },
  'all-at-once': { type: 'boolean' },
  'ignore-changes': { type: 'boolean' },
  back: { type: 'boolean' },
} as const;

async function run(values: OptionValues<typeof options>): Promise<void> {
  const { stage, 'based-on': basedOn, sha256, back: isBack } = values;
  if (!stage || !/^[a-z]{1,30}$/.test(stage)) throw new UsageError('--stage must be the name of a stage.');
  if (!process.env['AWS_REGION']) throw new UsageError('Set AWS_REGION to the region of the stage.');
  if (sha256 !== undefined && !values.assembly) throw new UsageError('--sha256 requires --assembly.');

  const assembly = values.assembly ?? 'cdk.out';
  const tools = toolsFor(stage, assembly);
  if (isBack) return await goBack(stage, tools);

  if (!values.assembly) {
    const context = basedOn === undefined ? [] : ['-c', `stage=${stage}`, '-c', `based-on=${basedOn}`];
    await cdk('synth', '--quiet', '--output', assembly, ...context);
  }
  if (sha256 !== undefined) requireHash(assembly, sha256);
  const template = readTemplate(assembly, stage);
  const isAllAtOnce = values['all-at-once'] ?? false;
  if (heldAliasesOf(template).length > 0 && !isAllAtOnce && !process.env['API_KEY'])
    throw new UsageError(
      `Set API_KEY to an API key of the stage ${stage}, which the probe uses, or append --all-at-once.`,
    );
  await deploy(stage, template, { isAllAtOnce, isKeepingChanges: values['ignore-changes'] ?? false }, tools);
}

function toolsFor(stage: string, assembly: string): Tools {
  const interruption = new AbortController();
  onInterrupt(() => interruption.abort(new UsageError('The deployment was interrupted.')));
  return {
    aws: awsCli,
    deployStack: (stack, parameters) =>
      // Reviewers have seen the changes of permissions, so the CDK must not prompt for an approval.
      cdk(
        'deploy',
        stack,
        '--exclusively',
        '--app',
        assembly,
        '--require-approval',
        'never',
        '--progress',
        'events',
        ...parameters,
      ),
    probe: (baseUrl, minutes, signal) =>
      probe({ stage, baseUrl, apiKey: process.env['API_KEY'] ?? '' }, signal, minutes),
    wait: (milliseconds) => setTimeout(milliseconds),
    print: (line) => console.log(line),
    interruption: interruption.signal,
  };
}

/** Runs a command of the CDK, in a process group of its own, so that Ctrl-C does not end it. */
async function cdk(...parameters: string[]): Promise<void> {
  // The CDK needs no API key.
  const { API_KEY: _secret, ...env } = process.env;
  const running = spawn('npx', ['cdk', ...parameters], {
    cwd: projectRoot,
    stdio: 'inherit',
    detached: true,
    env,
  });
  const [code] = (await once(running, 'exit')) as [number | null];
  if (code !== 0) throw new UsageError(`cdk ${parameters[0]} failed.`);
}

await runWithOptions(USAGE, options, run);
