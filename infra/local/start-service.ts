import { existsSync, globSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { findApiKey } from './local-api-key.ts';
import { stages } from '../stages.ts';
import { synthesizeIfChanged } from '../synthesize.ts';
import { openStore } from './emulator/dynamodb/store.ts';
import { startEmulator } from './emulator/emulator.ts';
import { EmulatorError } from './emulator/emulator-error.ts';
import { requireFreePort } from './emulator/gateway/server.ts';
import {
  createFolder,
  integerOption,
  type OptionValues,
  plain,
  requireStage,
  UsageError,
} from '../command.ts';
import { environmentVariables, stackName } from '../../shared/names.ts';
import { respondWithDocumentation } from './documentation.ts';
import { IN_MEMORY, temporaryFolder, writeLocalService } from './local-service.ts';

export const options = {
  stage: { type: 'string', default: 'staging' },
  port: { type: 'string', default: process.env['PORT'] || '3000' },
  data: { type: 'string' },
  assembly: { type: 'string' },
  synth: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  inspect: { type: 'string' },
  verbose: { type: 'boolean', default: false },
} as const;

export type ServiceOptions = OptionValues<typeof options> & { data: string };

/**
 * Starts the local service. Returns its base URL and API key, its data folder unless the data is in memory, the
 * resource types and the other resources that are not run, and a function that stops the service.
 *
 * @throws UsageError if an option, the template or the data prevents the service from starting.
 */
export async function startService(settings: ServiceOptions) {
  const { stage, data, verbose } = settings;
  const { port, inspectPort } = checkOptions(settings);
  const folder = data === IN_MEMORY ? undefined : resolve(data);
  const started = new AsyncDisposableStack();
  try {
    if (folder) requireNoFile(folder);
    const workFolder = folder ?? temporaryFolder();
    await requireFreePort(port); // The synthesis is slow, so the port is checked first.
    const tables = folder && join(folder, 'tables');
    if (tables) createFolder(tables);
    const store = await openStore(tables);
    started.defer(store.close);

    const assembly = settings.assembly || join(workFolder, 'cdk.out');
    if (!settings.assembly) await synthesizeIfChanged(assembly, settings.synth);
    requireTemplate(assembly, stackName(stage));
    const reloaded = join(workFolder, 'bundles');
    const emulator = await startEmulator({
      assembly,
      stackName: stackName(stage),
      store,
      inspectPort,
      // URLs in responses must lead to this service, not to the proxy in front of the deployed stage.
      omittedVariables: [environmentVariables.publicUrl],
      log: functionLog(verbose),
    });
    started.defer(emulator.close);
    const { api, databaseEndpoint } = emulator;
    const { outputs, skippedTypes, notRun } = emulator.template;

    const access = { stage, apiKeysTable: outputs['ApiKeysTable']!.Value, databaseEndpoint };
    const apiKey = await findApiKey(workFolder, api, access);
    const servedPort = await emulator.listen(port, {
      respondFirst: (request) => respondWithDocumentation(request, apiKey),
      onResponse: ({ method, path }, status, ms) =>
        console.log(`${new Date().toISOString()} ${method} ${plain(path)} ${status} ${ms.toFixed(1)} ms`),
    });
    const baseUrl = `http://localhost:${servedPort}/v1`;
    started.defer(writeLocalService(workFolder, { ...access, baseUrl }));

    if (settings.watch || inspectPort) {
      const { startWatch } = await import('./watch.ts');
      started.defer(startWatch(emulator, reloaded));
    }
    return { baseUrl, apiKey, folder, skippedTypes, notRun, close: () => started.disposeAsync() };
  } catch (error) {
    await started.disposeAsync();
    throw explainError(data, error);
  }
}

/** Checks a path of a folder that may not exist yet. @throws UsageError if the path or one of its parents is a file */
function requireNoFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isDirectory()) throw new UsageError(`${path} is a file. Choose a folder with --data.`);
  if (!stats && dirname(path) !== path) requireNoFile(dirname(path));
}

/** Returns the ports. 0 means any free port or, for `inspectPort`, no debugger. */
function checkOptions({ stage, port: portText, inspect, assembly, watch, synth }: ServiceOptions) {
  // An assembly of an earlier version can have other stages than infra/stages.ts, so only `requireTemplate` checks the
  // stage then.
  if (!assembly) requireStage(stage, stages);
  const port = integerOption(`The port ${portText} (--port or PORT)`, portText, 0, 65_535);
  const inspectPort = inspect ? integerOption('--inspect', inspect, 1_024, 65_000) : 0;
  if (assembly && (watch || inspectPort || synth))
    throw new UsageError('--assembly cannot be combined with --watch, --inspect or --synth.');
  return { port, inspectPort };
}

/** Returns a function that prints a line of a function's log. Without `verbose`, it omits the functions' metrics. */
function functionLog(verbose: boolean): (line: string) => void {
  return (line) => {
    // A line that starts with `{"_aws":` contains metrics in CloudWatch's embedded metric format.
    const isMetric = line.startsWith('{"_aws":');
    if (verbose || !isMetric) console.log(line);
  };
}

/**
 * Returns a UsageError if the stack, the port, the data folder or its disk caused the error, and otherwise `error`.
 *
 * @param data the data folder, or `memory`
 */
export function explainError(data: string, error: unknown): unknown {
  if (error instanceof EmulatorError)
    return new UsageError(`${error.message} To see all options, run npm start -- --help.`);
  if (!Error.isError(error) || error instanceof UsageError) return error;
  const { message } = error;

  const isInMemory = data === IN_MEMORY;
  const folder = isInMemory ? tmpdir() : resolve(data);

  const isDiskFull = /no space left|quota exceeded|file too large/i.test(message);
  if (isDiskFull) {
    const remedy = 'Free disk space and restart the local service. The stored data is intact.';
    return new UsageError(`The disk is full (${message}). ${remedy}`);
  }

  const isDamaged = /^Corruption: |^IO error: .*: (?:No such file or directory|Invalid argument)$/.test(
    message,
  );
  if (isDamaged) {
    const remedy = 'Choose another folder with --data. Delete the data only if you do not need it.';
    return new UsageError(`The tables in ${folder} are damaged (${message}). ${remedy}`);
  }

  if (isFolderError(folder, error)) {
    const remedy = isInMemory
      ? 'Set TMPDIR (on Windows TEMP) to a folder to which you can write.'
      : 'Do not delete the data. Check the permissions, or choose another folder with --data.';
    return new UsageError(`The folder ${folder} is unusable (${message}). ${remedy}`);
  }
  return error;
}

/** Returns whether the error is about a path in `folder` or about one of its parent folders. */
function isFolderError(folder: string, error: NodeJS.ErrnoException): boolean {
  const { path, code = '' } = error;
  // LevelDB's errors and some errors of a disk contain no path.
  if (!path) return /^(?:EIO|EROFS|LEVEL_\w+)$/.test(code);
  return isIn(folder, path) || isIn(path, folder);
}

function isIn(folder: string, path: string): boolean {
  return (path + sep).startsWith(folder + sep);
}

/** Checks that a folder contains the template of a stack. @throws UsageError if it does not */
function requireTemplate(folder: string, stack: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`The folder ${folder} does not exist. Choose a folder with --assembly.`);
  if (!stats.isDirectory())
    throw new UsageError(`${folder} is not a folder. Choose a folder with --assembly.`);
  if (existsSync(join(folder, `${stack}.template.json`))) return;
  const stacks = globSync('*.template.json', { cwd: folder }).map((name) => name.replace(/\..*/, ''));
  if (stacks.length === 0)
    throw new UsageError(`${folder} contains no stacks. Synthesize with npx cdk synth.`);
  throw new UsageError(
    `${folder} contains no stack ${stack}, but ${stacks.toSorted().join(', ')}. Correct --stage or --assembly.`,
  );
}
