import {
  type Database,
  databaseEnvironment,
  operatorAccessKeyId,
  startDatabase,
} from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { readTemplate, type Template } from '../../infra/local/emulator/template/template.ts';
import { stackName } from '../../shared/names.ts';
import { sharedSynthesis } from './assembly.ts';

/** Reads the staging stack's template from the assembly that all tests share. */
export async function stagingTemplate(): Promise<Template> {
  return readTemplate(stackName('staging'), await sharedSynthesis());
}

/** Starts a database with the template's tables in memory. The database allows all calls, regardless of permissions. */
export async function startTables(template: Template): Promise<Database> {
  return startDatabase(await openStore(), template.resources('AWS::DynamoDB::GlobalTable'), () => true);
}

/**
 * Sets the environment variables of all the template's functions in this process, so that `functions/` and `shared/`
 * use the database at `databaseEndpoint`. Call this function only once, because the SDK keeps its first endpoint.
 */
export function setFunctionsEnvironment(template: Template, databaseEndpoint: string): void {
  // The developer's AWS settings are removed, because some, such as AWS_PROFILE, would override the settings below.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, databaseEnvironment(databaseEndpoint, operatorAccessKeyId));
  const functions = template.resources('AWS::Lambda::Function');
  Object.assign(process.env, ...functions.map(({ properties }) => properties.Environment.Variables));
}
