import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findApiKey } from './api-key.ts';
import { synthesizeIfChanged } from '../synthesize.ts';
import { openStore } from './emulator/dynamodb/store.ts';
import { startEmulator } from './emulator/emulator.ts';
import { requireFreePort } from './emulator/gateway/server.ts';
import { plain } from '../command.ts';
import { stackName } from '../../shared/names.ts';
import { IN_MEMORY, temporaryFolder, writeLocalService } from './local-service.ts';
import { respondToBrowser } from './reference.ts';
import { explainError } from './startup-errors.ts';

/** The options that `npm start -- --help` describes. */
export interface ServiceOptions {
  stage: string;
  port: number;
  data: string;
  assembly?: string | undefined;
  synth?: boolean;
  watch: boolean;
  verbose: boolean;
}

/** @throws UsageError if an option, the template or the data prevents the service from starting. */
export async function startService(options: ServiceOptions) {
  const { stage, port, verbose } = options;
  const folder = options.data === IN_MEMORY ? undefined : resolve(options.data);
  const started = new AsyncDisposableStack();
  try {
    const workFolder = folder ?? temporaryFolder();
    await requireFreePort(port); // The synthesis is slow, so the port is checked first.
    const store = await openStore(folder && join(folder, 'tables'));
    started.defer(store.close);

    const assembly = options.assembly ?? join(workFolder, 'cdk.out');
    if (!options.assembly) await synthesizeIfChanged(assembly, options.synth);
    const log = (line: string): void => {
      // Lines that start with `_aws` contain metrics in CloudWatch's embedded metric format.
      if (verbose || !line.startsWith('{"_aws":')) console.log(line);
    };
    const emulator = await startEmulator({ assembly, stackName: stackName(stage), store, log });
    started.defer(emulator.close);
    const { api, template, databaseEndpoint } = emulator;

    const access = { stage, apiKeysTable: template.output('ApiKeysTable'), databaseEndpoint };
    const apiKey = await findApiKey(workFolder, api, access);
    const servedPort = await emulator.listen(port, {
      respondFirst: (request) => respondToBrowser(request, apiKey),
      onResponse: ({ method, path }, status, ms) =>
        console.log(`${new Date().toISOString()} ${method} ${plain(path)} ${status} ${ms.toFixed(1)} ms`),
    });
    const baseUrl = `http://localhost:${servedPort}/v1`;
    started.defer(writeLocalService(workFolder, { ...access, baseUrl }));

    if (options.watch) {
      const { startWatch } = await import('./watch.ts');
      started.defer(await startWatch(emulator, workFolder));
    }
    const close = () => started.disposeAsync();
    return { baseUrl, apiKey, folder, skippedTypes: template.skippedTypes, close };
  } catch (error) {
    await started.disposeAsync();
    throw explainError(folder ?? tmpdir(), error);
  }
}
