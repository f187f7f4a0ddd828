import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ApiGateway, createApiGateway } from './gateway/api-gateway.ts';
import { readTemplate, stackName, synthesize } from './template/assembly.ts';
import {
  claimFolder,
  explainFolderError,
  keyFileIn,
  readKey,
  tablesIn,
  temporaryFolder,
} from './data-folder.ts';
import { operatorAccessKeyId, startDatabase } from './dynamodb/dynamodb.ts';
import { bundleIn, createFunction, type LambdaFunction } from './lambda/lambda.ts';
import { readPermissions } from './template/permissions.ts';
import { answerBrowser } from './gateway/reference.ts';
import { RunnerError } from './runner-error.ts';
import { requireFreePort, serve } from './gateway/server.ts';
import { accountId, region } from './template/template.ts';

export interface ServiceOptions {
  stage: string;
  /** TCP port on the loopback interface; 0 takes a free one. */
  port: number;
  /** Folder that keeps the data between runs, or `memory`. */
  data: string;
  /** Folder of a cloud assembly to run as it is; synthesized anew without. */
  assembly: string | undefined;
  /** Whether to swap functions whose sources are saved. */
  watch: boolean;
  /** Whether to print the access log and the metrics too. */
  verbose: boolean;
}

export interface Service {
  baseAddress: string;
  apiKey: string;
  /** Where the data is kept, if anywhere. */
  folder: string | undefined;
  /** Types of the template's resources that have no part here. */
  notRunHere: string[];
  close: () => Promise<void>;
}

/**
 * Runs a stage's template on this machine.
 *
 * @throws RunnerError saying what to do when it cannot.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { stage, port, data, assembly, watch, verbose } = options;
  const folder = data === 'memory' ? undefined : resolve(data);
  const workFolder = folder ?? temporaryFolder();
  const closing: (() => unknown)[] = [];
  async function close(): Promise<void> {
    for (const step of closing.toReversed()) await step();
  }

  try {
    await requireFreePort(port);
    const release = folder === undefined ? async () => {} : await claimFolder(folder, stage);
    closing.push(release);
    const watching = watch
      ? await (await import('./watch/watch.ts')).prepareWatch(stage, workFolder)
      : undefined;
    const assemblyFolder = assembly ?? join(workFolder, 'cdk.out');
    if (!assembly) {
      console.log(`Synthesizing the stack ${stackName(stage)} …`);
      await synthesize(assemblyFolder, stage);
    }
    const template = readTemplate(stage, assemblyFolder);

    await release();
    const database = await startDatabase({
      folder: folder && tablesIn(folder),
      tables: template.resources('AWS::DynamoDB::GlobalTable'),
      isAllowed: readPermissions(template),
    });
    closing.push(database.close);

    const functions = new Map<string, LambdaFunction>(
      template.resources('AWS::Lambda::Function').map((resource) => {
        const bundle = bundleIn(assemblyFolder, resource);
        const run = (file: string) =>
          createFunction(resource, {
            file,
            databaseEndpoint: database.endpoint,
            log: (line) => {
              if (verbose || !isMetric(line)) console.log(line);
            },
          });
        const { logicalId } = resource;
        return [logicalId, watching ? watching.updatable(logicalId, run, bundle) : run(bundle)];
      }),
    );
    closing.push(() => Promise.all([...functions.values()].map((fn) => fn.close())));

    const api = createApiGateway(template, functions, verbose ? console.log : undefined);
    let apiKey = ''; // issued by a command that needs the service
    const server = await serve(api, port, (request) => answerBrowser(request, apiKey));
    closing.push(server.close);
    const baseAddress = `http://localhost:${server.port}/v1`;

    const record = join(workFolder, 'service.json');
    writeFileSync(
      record,
      JSON.stringify({
        stage,
        baseAddress,
        apiKeysTable: template.output('ApiKeysTable'),
        databaseEndpoint: database.endpoint,
        region,
        accessKeyId: operatorAccessKeyId,
        operatorArn: `arn:aws:iam::${accountId}:user/${operatorAccessKeyId}`,
      }),
    );
    closing.push(() => rmSync(record, { force: true }));

    const kept = readKey(workFolder);
    apiKey = kept && (await isAccepted(api, kept)) ? kept : await issueKey(workFolder);
    if (watching) closing.push(await watching.start(assemblyFolder, api.flushAuthorizersCache));
    return { baseAddress, apiKey, folder, notRunHere: template.notRunHere, close };
  } catch (error) {
    await close();
    throw explainFolderError(workFolder, error);
  }
}

/** A log line that CloudWatch takes as a metric (embedded metric format). */
function isMetric(line: string): boolean {
  return line.startsWith('{"_aws":');
}

/** Whether the key opens the service; it does not when the tables beside it were removed, or it was revoked. */
async function isAccepted(api: ApiGateway, key: string): Promise<boolean> {
  const { status } = await api.handle({
    method: 'GET',
    path: '/v1/pets',
    query: 'limit=1',
    headers: [['Authorization', `Bearer ${key}`]],
    body: Buffer.alloc(0),
    sourceIp: '127.0.0.1',
  });
  return status !== 401;
}

/** Issues the key by the operator command, which finds the service by its record, and keeps it for its owner's eyes. */
async function issueKey(folder: string): Promise<string> {
  const command = fileURLToPath(new URL('../operate/keys/main.ts', import.meta.url));
  const parameters = [
    'issue',
    '--stage',
    'local',
    '--data',
    folder,
    '--owner',
    'local development',
    '--quiet',
  ];
  let key: string;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [command, ...parameters]);
    key = stdout.trim();
  } catch (error) {
    throw new RunnerError(`No API key could be issued: ${(error as { stderr: string }).stderr.trim()}`);
  }
  const file = keyFileIn(folder);
  rmSync(file, { force: true }); // the mode is for a new file alone
  writeFileSync(file, key, { mode: 0o600 });
  return key;
}
