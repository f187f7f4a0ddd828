import { useLocalDatabase } from '../../infra/local/local-service.ts';
import { type Database, operatorAccessKeyId, startDatabase } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { region, type Template } from '../../infra/local/emulator/template/template.ts';

/** Starts a database with the template's tables in memory. The database authorizes every call. */
export async function startTables(template: Template): Promise<Database> {
  return startDatabase(await openStore(), template.resources('AWS::DynamoDB::GlobalTable'), () => true);
}

/**
 * Sets the environment variables of all the template's functions in this process, so that `functions/` and `shared/`
 * use the database at `databaseEndpoint`. Call this once per process, because the SDK keeps its first endpoint.
 */
export function setFunctionsEnvironment(template: Template, databaseEndpoint: string): void {
  useLocalDatabase({ databaseEndpoint, region, accessKeyId: operatorAccessKeyId });
  const functions = template.resources('AWS::Lambda::Function');
  Object.assign(process.env, ...functions.map(({ properties }) => properties.Environment.Variables));
}
