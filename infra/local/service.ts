import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { findApiKey } from './api-key.ts';
import { sourceMapsFolder, toSources } from '../source-maps.ts';
import { synthesizeIfChanged } from '../synthesize.ts';
import { openStore } from './emulator/dynamodb/store.ts';
import { startEmulator } from './emulator/emulator.ts';
import { EmulatorError } from './emulator/errors.ts';
import { requireFreePort } from './emulator/gateway/server.ts';
import { integerOption, type OptionValues, plain, UsageError } from '../command.ts';
import { stackName } from '../../shared/names.ts';
import { respondWithDocumentation } from './documentation.ts';
import { IN_MEMORY, temporaryFolder, writeLocalService } from './local-service.ts';

export const options = {
  stage: { type: 'string', default: 'staging' },
  port: { type: 'string', default: process.env['PORT'] ?? '3000' },
  data: { type: 'string' },
  assembly: { type: 'string' },
  synth: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  inspect: { type: 'string' },
  verbose: { type: 'boolean', default: false },
} as const;

export type ServiceOptions = OptionValues<typeof options> & { data: string };

/** @throws UsageError if an option, the template or the data prevents the service from starting. */
export async function startService({ stage, data, verbose, ...others }: ServiceOptions) {
  const port = integerOption(`The port ${others.port} (--port or PORT)`, others.port, 0, 65_535);
  const inspectPort = others.inspect ? integerOption('--inspect', others.inspect, 1_024, 65_000) : 0;
  if (data === '') throw new UsageError('--data must be the path of a folder or the word memory.');
  if (others.assembly && (others.watch || others.synth || inspectPort))
    throw new UsageError('--assembly cannot be combined with --watch, --inspect or --synth.');
  const folder = data === IN_MEMORY ? undefined : resolve(data);
  const started = new AsyncDisposableStack();
  try {
    const workFolder = folder ?? temporaryFolder();
    await requireFreePort(port); // The synthesis is slow, so the port is checked first.
    const store = await openStore(folder && join(folder, 'tables'));
    started.defer(store.close);

    const assembly = others.assembly || join(workFolder, 'cdk.out');
    if (!others.assembly) await synthesizeIfChanged(assembly, others.synth);
    const reloaded = join(workFolder, 'bundles');
    const sourceMaps = [join(assembly, sourceMapsFolder), reloaded];
    const log = (line: string): void => {
      // A line that starts with `{"_aws":` contains metrics in CloudWatch's embedded metric format.
      if (verbose || !line.startsWith('{"_aws":')) console.log(toSources(line, sourceMaps));
    };
    const emulator = await startEmulator({ assembly, stackName: stackName(stage), store, inspectPort, log });
    started.defer(emulator.close);
    const { api, databaseEndpoint } = emulator;
    const { outputs, skippedTypes } = emulator.template;

    const access = { stage, apiKeysTable: outputs['ApiKeysTable']!.Value, databaseEndpoint };
    const apiKey = await findApiKey(workFolder, api, access);
    const servedPort = await emulator.listen(port, {
      respondFirst: (request) => respondWithDocumentation(request, apiKey),
      onResponse: ({ method, path }, status, ms) =>
        console.log(`${new Date().toISOString()} ${method} ${plain(path)} ${status} ${ms.toFixed(1)} ms`),
    });
    const baseUrl = `http://localhost:${servedPort}/v1`;
    started.defer(writeLocalService(workFolder, { ...access, baseUrl }));

    if (others.watch || inspectPort) {
      const { startWatch } = await import('./watch.ts');
      started.defer(startWatch(emulator, reloaded));
    }
    return { baseUrl, apiKey, folder, skippedTypes, close: () => started.disposeAsync() };
  } catch (error) {
    await started.disposeAsync();
    throw explainError(folder ?? tmpdir(), error);
  }
}

/** Returns a UsageError if the stack, the port, the data folder or its disk caused the error, and otherwise `error`. */
export function explainError(folder: string, error: unknown): unknown {
  if (error instanceof EmulatorError)
    return new UsageError(`${error.message} To see all options, run npm start -- --help.`);
  if (!Error.isError(error) || error instanceof UsageError) return error;
  const { path, message, code = '' } = error as NodeJS.ErrnoException;
  if (/no space left|quota exceeded|file too large/i.test(message)) {
    const remedy = 'Free disk space and restart the local service. The stored data is intact.';
    return new UsageError(`The disk is full (${message}). ${remedy}`);
  }
  if (/^Corruption: |^IO error: .*: (?:No such file or directory|Invalid argument)$/.test(message)) {
    const remedy = 'Choose another folder with --data. Delete the data only if you do not need it.';
    return new UsageError(`The tables in ${folder} are damaged (${message}). ${remedy}`);
  }
  const isFolderError = path
    ? (path + sep).startsWith(folder + sep) || (folder + sep).startsWith(path + sep)
    : /^(?:EIO|EROFS|LEVEL_\w+)$/.test(code);
  if (!isFolderError) return error;
  const remedy = 'Do not delete the data. Check the permissions, or choose another folder with --data.';
  return new UsageError(`The folder ${folder} is unusable (${message}). ${remedy}`);
}
