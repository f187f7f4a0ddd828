import { join, resolve } from 'node:path';
import { findApiKey, requireStage } from './api-key.ts';
import { explainFolderError, makeFolder, tablesIn, temporaryFolder } from './data-folder.ts';
import { operatorAccessKeyId, startDatabase } from './dynamodb/dynamodb.ts';
import { openStore } from './dynamodb/store.ts';
import { createApiGateway } from './gateway/api-gateway.ts';
import { respondToBrowser } from './gateway/reference.ts';
import { requireFreePort, serve } from './gateway/server.ts';
import { bundleIn, createFunction } from './lambda/lambda.ts';
import { IN_MEMORY, writeLocalService } from '../operate/keys/local-service.ts';
import { synthesizeIfChanged, readTemplate } from './template/assembly.ts';
import { readPermissions } from './template/permissions.ts';
import { accountId, region, type Template } from './template/template.ts';

export interface ServiceOptions {
  stage: string;
  /** TCP port on the loopback interface; 0 takes a free one. */
  port: number;
  /** Folder that keeps the data between runs, or `memory`. */
  data: string;
  /** Folder of a cloud assembly to run. If omitted, it is synthesized, unless that of the last run is up to date. */
  assembly: string | undefined;
  /** Whether to synthesize in any case. */
  synth?: boolean;
  watch: boolean;
  verbose: boolean;
}

/** Runs a stage's template on this machine. @throws UsageError saying what to do if it cannot. */
export async function startService(options: ServiceOptions) {
  const { stage, port, verbose } = options;
  const folder = options.data === IN_MEMORY ? undefined : resolve(options.data);
  const workFolder = folder ?? temporaryFolder();
  const started = new AsyncDisposableStack();
  try {
    await requireFreePort(port);
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
    const forOperators = {
      stage,
      apiKeysTable: template.output('ApiKeysTable'),
      databaseEndpoint: database.endpoint,
      region,
      accessKeyId: operatorAccessKeyId,
      operatorArn: `arn:aws:iam::${accountId}:user/${operatorAccessKeyId}`,
    };
    const apiKey = await findApiKey(workFolder, api, forOperators);
    const server = await serve(api, port, (request) => respondToBrowser(request, apiKey));
    started.defer(() => server.close());
    const baseUrl = `http://localhost:${server.port}/v1`;
    started.defer(writeLocalService(workFolder, { ...forOperators, baseUrl }));

    if (options.watch) {
      const { startWatch } = await import('./watch/watch.ts');
      const onSwap = api.flushAuthorizersCache;
      started.defer(await startWatch({ stage, template, assembly, functions, workFolder, onSwap }));
    }
    const { notRunHere } = template;
    return { baseUrl, apiKey, folder, notRunHere, close: () => started.disposeAsync() };
  } catch (error) {
    await started.disposeAsync();
    throw explainFolderError(workFolder, error);
  }
}

/** The functions of the template by logical id. Their metrics are printed only if the service is verbose. */
function createFunctions(template: Template, assembly: string, databaseEndpoint: string, verbose: boolean) {
  const log = (line: string): void => {
    // CloudWatch takes these lines as metrics (embedded metric format).
    if (verbose || !line.startsWith('{"_aws":')) console.log(line);
  };
  const functions = template.resources('AWS::Lambda::Function').map((resource) => {
    const file = bundleIn(assembly, resource);
    return [resource.logicalId, createFunction(resource, { file, databaseEndpoint, log })] as const;
  });
  return new Map(functions);
}
