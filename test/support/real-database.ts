import { useLocalDatabase } from '../../infra/operate/keys/local-service.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { type Database, operatorAccessKeyId, startDatabase } from '../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/dynamodb/store.ts';
import { region, type Template } from '../../infra/local/template/template.ts';

/**
 * Runs the tables of the staging stack in memory and sets the environment of its functions, so that what is called of
 * `functions/` and `shared/` in this process works on them.
 *
 * @param assembly folder of the cloud assembly, as `sharedSynthesis()` gives it.
 */
export async function startRealDatabase(assembly: string): Promise<Database> {
  const template = readTemplate('staging', assembly);
  const database = await startTables(template);
  setFunctionsEnvironment(template, database.endpoint);
  return database;
}

/** Runs the template's tables in memory. Whoever calls may do anything. */
export async function startTables(template: Template): Promise<Database> {
  return startDatabase({
    store: await openStore(),
    tables: template.resources('AWS::DynamoDB::GlobalTable'),
    isAllowed: () => true,
  });
}

/**
 * Gives this process the environment of all functions of the template, with the database at this address. Not to be
 * called twice in a process: the SDK keeps its first endpoint.
 */
export function setFunctionsEnvironment(template: Template, databaseEndpoint: string): void {
  useLocalDatabase({ databaseEndpoint, region, accessKeyId: operatorAccessKeyId });
  const functions = template.resources('AWS::Lambda::Function');
  Object.assign(process.env, ...functions.map(({ properties }) => properties.Environment.Variables));
}

/** A key of the stage whose environment this process has. */
export async function issueTestKey(): Promise<string> {
  // Imported only now: the database reads some of its environment when it is.
  const { issueApiKey } = await import('../../infra/operate/keys/lifecycle.ts');
  const { STAGE, API_KEYS_TABLE } = process.env as Record<string, string>;
  const store = { stage: STAGE!, table: API_KEYS_TABLE! };
  const { key } = await issueApiKey(store, { owner: 'a test', caller: 'a test' });
  return key;
}
