import { join, resolve } from 'node:path';
import { findApiKey, requireStage } from './api-key.ts';
import { explainFolderError, makeFolder, tablesIn, temporaryFolder } from './data-folder.ts';
import { operatorAccessKeyId, startDatabase } from './dynamodb/dynamodb.ts';
import { openStore } from './dynamodb/store.ts';
import { createApiGateway } from './gateway/api-gateway.ts';
import { respondToBrowser } from './gateway/reference.ts';
import { requireFreePort, serve } from './gateway/server.ts';
import { bundleIn, createFunction } from './lambda/lambda.ts';
import { IN_MEMORY, writeLocalService } from './local-service.ts';
import { synthesizeIfChanged, readTemplate } from './template/assembly.ts';
import { readPermissions } from './template/permissions.ts';
import { accountId, region, type Template } from './template/template.ts';

export interface ServiceOptions {
  stage: string;
  /** TCP port on the loopback interface, or 0 for any free port. */
  port: number;
  /** Data folder, or `memory`. */
  data: string;
  /** Folder of the cloud assembly to run. If omitted, the service synthesizes or reuses its own assembly. */
  assembly: string | undefined;
  /** Whether to synthesize even if the last assembly is up to date. */
  synth?: boolean;
  watch: boolean;
  verbose: boolean;
}

/** @throws UsageError if an option, the template or the data prevents the service from starting. */
export async function startService(options: ServiceOptions) {
  const { stage, port, verbose } = options;
  const folder = options.data === IN_MEMORY ? undefined : resolve(options.data);
  const workFolder = folder ?? temporaryFolder();
  const started = new AsyncDisposableStack();
  try {
    await requireFreePort(port); // The synthesis is slow, so the port is checked first.
    const storeFolder = folder && tablesIn(folder);
    if (storeFolder) makeFolder(storeFolder);
    requireStage(workFolder, stage);
    const store = await openStore(storeFolder);
    started.defer(store.close);

    const assembly = options.assembly ?? join(workFolder, 'cdk.out');
    if (!options.assembly) await synthesizeIfChanged(assembly, options.synth);
    const template = readTemplate(stage, assembly);
    const tables = template.resources('AWS::DynamoDB::GlobalTable');
    const database = await startDatabase(store, tables, readPermissions(template));
    started.defer(database.close);
    const functions = createFunctions(template, assembly, database.endpoint, verbose);
    for (const { close } of functions.values()) started.defer(close);

    const api = createApiGateway(template, functions);
    const access = {
      stage,
      apiKeysTable: template.output('ApiKeysTable'),
      databaseEndpoint: database.endpoint,
      region,
      accessKeyId: operatorAccessKeyId,
      operatorArn: `arn:aws:iam::${accountId}:user/${operatorAccessKeyId}`,
    };
    const apiKey = await findApiKey(workFolder, api, access);
    const server = await serve(api, port, (request) => respondToBrowser(request, apiKey));
    started.defer(() => server.close());
    const baseUrl = `http://localhost:${server.port}/v1`;
    started.defer(writeLocalService(workFolder, { ...access, baseUrl }));

    if (options.watch) {
      const { startWatch } = await import('./watch/watch.ts');
      const onReload = api.flushAuthorizersCache;
      started.defer(await startWatch({ stage, template, assembly, functions, workFolder, onReload }));
    }
    const close = () => started.disposeAsync();
    return { baseUrl, apiKey, folder, skippedTypes: template.skippedTypes, close };
  } catch (error) {
    await started.disposeAsync();
    throw explainFolderError(workFolder, error);
  }
}

/** Creates the template's functions and returns them by logical id. Prints metrics only if `verbose` is true. */
function createFunctions(template: Template, assembly: string, databaseEndpoint: string, verbose: boolean) {
  const log = (line: string): void => {
    // Lines that start with `_aws` contain metrics in CloudWatch's embedded metric format.
    if (verbose || !line.startsWith('{"_aws":')) console.log(line);
  };
  const functions = template.resources('AWS::Lambda::Function').map((resource) => {
    const file = bundleIn(assembly, resource);
    return [resource.logicalId, createFunction(resource, { file, databaseEndpoint, log })] as const;
  });
  return new Map(functions);
}
