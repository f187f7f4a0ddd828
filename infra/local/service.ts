import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ApiGateway, createApiGateway } from './api-gateway.ts';
import { readTemplate, synthesize } from './assembly.ts';
import { operatorAccessKeyId, requireUsableFolder, startDatabase } from './dynamodb.ts';
import { createFunction } from './lambda.ts';
import { readPermissions } from './permissions.ts';
import { RunnerError } from './runner-error.ts';
import { serve } from './server.ts';
import { accountId, region } from './template.ts';

export interface ServiceOptions {
  stage: string;
  /** TCP port on the loopback interface; 0 takes a free one. */
  port: number;
  /** Folder that keeps the data between runs, or `memory`. */
  data: string;
  /** Folder of a cloud assembly to run as it is; synthesized anew without. */
  assembly: string | undefined;
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
  const { stage, port, data, assembly, verbose } = options;
  const folder = data === 'memory' ? undefined : resolve(data);
  const workFolder = folder ?? temporaryFolder();
  const closing: (() => unknown)[] = [];
  async function close(): Promise<void> {
    for (const step of closing.toReversed()) await step();
  }

  try {
    if (folder) await claimFolder(folder, stage);
    const assemblyFolder = assembly ?? join(workFolder, 'cdk.out');
    if (!assembly) await synthesize(assemblyFolder, stage);
    const template = readTemplate(stage, assemblyFolder);

    const database = await startDatabase({
      folder: folder && tablesIn(folder),
      tables: template.resources('AWS::DynamoDB::GlobalTable'),
      isAllowed: readPermissions(template),
    });
    closing.push(database.close);

    const functions = new Map(
      template.resources('AWS::Lambda::Function').map((resource) => {
        const fn = createFunction(resource, {
          assembly: assemblyFolder,
          databaseEndpoint: database.endpoint,
          log: (line) => {
            if (verbose || !isMetric(line)) console.log(line);
          },
        });
        return [resource.logicalId, fn];
      }),
    );
    closing.push(() => Promise.all([...functions.values()].map((fn) => fn.close())));

    const api = createApiGateway(template, functions, verbose ? console.log : undefined);
    const server = await serve(api, port);
    closing.push(server.close);

    const record = join(workFolder, 'service.json');
    writeFileSync(
      record,
      JSON.stringify({
        stage,
        apiKeysTable: template.output('ApiKeysTable'),
        databaseEndpoint: database.endpoint,
        region,
        accessKeyId: operatorAccessKeyId,
        operatorArn: `arn:aws:iam::${accountId}:user/${operatorAccessKeyId}`,
      }),
    );
    closing.push(() => rmSync(record, { force: true }));

    const kept = readKey(workFolder);
    const apiKey = kept && (await isAccepted(api, kept)) ? kept : await issueKey(workFolder);
    const baseAddress = `http://localhost:${server.port}/v1`;
    return { baseAddress, apiKey, folder, notRunHere: template.notRunHere, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A log line that CloudWatch takes as a metric (embedded metric format). */
function isMetric(line: string): boolean {
  return line.startsWith('{"_aws":');
}

/** A folder for what has to lie on disk while the data is in memory; gone with the process. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Before anything is written there: the folder must be there, free, and not another stage's. */
async function claimFolder(folder: string, stage: string): Promise<void> {
  try {
    await mkdir(tablesIn(folder), { recursive: true });
  } catch (error) {
    throw new RunnerError(
      `The folder ${folder} cannot be made: ${(error as Error).message}. Choose another with --data.`,
    );
  }
  const key = readKey(folder);
  if (key !== undefined && !key.startsWith(`pets_${stage}_`)) {
    throw new RunnerError(
      `The folder ${folder} holds the data of another stage: choose another with --data.`,
    );
  }
  // The database tries it again: synthesizing takes seconds, in which another service may start.
  await requireUsableFolder(tablesIn(folder));
}

function tablesIn(folder: string): string {
  return join(folder, 'tables');
}

/** The key that was issued for this folder at its first start. */
function readKey(folder: string): string | undefined {
  const file = keyFileIn(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
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
  const command = fileURLToPath(new URL('../keys.ts', import.meta.url));
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
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [command, ...parameters]);
    writeFileSync(keyFileIn(folder), stdout.trim(), { mode: 0o600 });
    return stdout.trim();
  } catch (error) {
    throw new RunnerError(`No API key could be issued: ${(error as { stderr: string }).stderr.trim()}`);
  }
}

function keyFileIn(folder: string): string {
  return join(folder, 'api-key');
}
