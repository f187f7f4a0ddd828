import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  deployedStageOption,
  onInterrupt,
  type OptionValues,
  pathOption,
  projectRoot,
  relativePaths,
  requireStage,
  runWithOptions,
  UsageError,
} from '../../command.ts';
import { stages } from '../../stages.ts';
import { probe } from '../probe.ts';
import { readTemplate, requireHash } from './assembly.ts';
import { awsCli } from './aws-cli.ts';
import { deploy, goBack, type Tools } from './deploy.ts';

const USAGE = `npm run deploy -- --stage STAGE [OPTION ...]
npm run deploy -- --stage STAGE --back [--if-unfinished]

Deploys a stage. If its settings have canaryDeployments, all functions get their new versions together, first for 10%, then
for 50%, then for all requests. If the stage fails the probe meanwhile, an alarm fires, or a new version fails more often than
the old version, all requests go to the old versions again. Requires AWS CLI 2, AWS credentials and the stage's region in
AWS_REGION. An update of a stage with canaryDeployments also requires an API key of the stage in API_KEY, which the probe
uses. --all-at-once and --back need no API key.

  --stage           stage to deploy
  --based-on        stage in infra/stages.ts whose settings an ephemeral stage gets
  --assembly        folder with the output of cdk synth (default: a new synthesis)
  --sha256          hash of the assembly, as node infra/operate/deploy/print-hash.ts FOLDER prints it
  --all-at-once     gives all requests to the new versions at once, without probe and comparison
  --ignore-changes  deploys although somebody has changed the stack by hand
  --back            points all functions to their versions before the last deployment, and changes nothing else
  --if-unfinished   goes back only if the last deployment did not finish

${relativePaths}`;

const options = {
  stage: { type: 'string' },
  'based-on': { type: 'string' },
  assembly: { type: 'string' },
  sha256: { type: 'string' },
  'all-at-once': { type: 'boolean' },
  'ignore-changes': { type: 'boolean' },
  back: { type: 'boolean' },
  'if-unfinished': { type: 'boolean' },
} as const;

async function run(values: OptionValues<typeof options>): Promise<void> {
  const { 'based-on': basedOn, sha256, 'if-unfinished': isOnlyUnfinished = false } = values;
  const stage = deployedStageOption(values.stage, stages);
  // Only a new synthesis needs the stage in infra/stages.ts. An assembly can contain other stages, and infra/stages.ts
  // can lack a stage that goes back.
  if (!values.assembly && !values.back) requireStage(basedOn ?? stage, stages);
  if (!process.env['AWS_REGION']) throw new UsageError('Set AWS_REGION to the region of the stage.');
  const others = Object.keys(values).filter((name) => !['stage', 'back', 'if-unfinished'].includes(name));
  if (values.back && others.length > 0)
    throw new UsageError(`--back cannot be combined with --${others[0]}.`);
  if (isOnlyUnfinished && !values.back) throw new UsageError('--if-unfinished requires --back.');
  if (sha256 !== undefined && !values.assembly) throw new UsageError('--sha256 requires --assembly.');
  if (basedOn !== undefined && values.assembly)
    throw new UsageError(
      '--based-on and --assembly cannot be combined, as an assembly has its own settings.',
    );

  // The CDK runs in the project's folder, so it needs the absolute path.
  const assembly = values.assembly ? pathOption('--assembly', values.assembly) : join(projectRoot, 'cdk.out');
  const tools = toolsFor(stage, assembly);
  if (values.back) return await goBack(stage, isOnlyUnfinished, tools);

  if (!values.assembly) {
    const context = basedOn === undefined ? [] : ['-c', `stage=${stage}`, '-c', `based-on=${basedOn}`];
    await cdk(['synth', '--quiet', '--output', assembly, ...context]);
  }
  if (sha256 !== undefined) requireHash(assembly, sha256);
  const template = readTemplate(assembly, stage);
  const isAllAtOnce = values['all-at-once'] ?? false;
  await deploy(stage, template, { isAllAtOnce, isKeepingChanges: values['ignore-changes'] ?? false }, tools);
}

function toolsFor(stage: string, assembly: string): Tools {
  const interruption = new AbortController();
  onInterrupt(() => interruption.abort(new UsageError('The deployment was interrupted.')));
  return {
    aws: awsCli,
    deployStack: (stack, parameters) =>
      // The CDK must not prompt for an approval of changed permissions, because nobody could answer in a workflow.
      cdk(
        [
          'deploy',
          stack,
          '--exclusively',
          `--app=${assembly}`,
          '--require-approval=never',
          '--progress=events',
          ...parameters,
        ],
        true,
      ),
    hasApiKey: Boolean(process.env['API_KEY']),
    probe: (baseUrl, minutes, signal) =>
      probe({ stage, baseUrl, apiKey: process.env['API_KEY'] ?? '' }, signal, minutes),
    wait: (milliseconds) => setTimeout(milliseconds),
    print: (line) => console.log(line),
    interruption: interruption.signal,
  };
}

/**
 * Runs a command of the CDK with the Node in PATH. In the workflow Deploy, that Node comes from actions/setup-node
 * instead of the npm registry.
 *
 * @param isDetached whether the command has a process group of its own, so that Ctrl-C does not interrupt it
 * @throws UsageError if the command fails
 */
async function cdk(parameters: string[], isDetached = false): Promise<void> {
  // The CDK needs no API key, so it does not get the probe's key.
  const { API_KEY: _secret, ...env } = process.env;
  const running = spawn('node', ['node_modules/aws-cdk/bin/cdk', ...parameters], {
    cwd: projectRoot,
    stdio: 'inherit',
    detached: isDetached,
    env,
  });
  const [code] = (await once(running, 'exit')) as [number | null];
  if (code !== 0) throw new UsageError(`cdk ${parameters[0]} failed.`);
}

await runWithOptions(USAGE, options, run);
