import type { Collection, Operation } from '../../shared/contract/operation.ts';
import { collections, type OperationId, type OperationKind } from '../../shared/contract/operations.ts';
import { listIndexes } from '../../shared/contract/lists.ts';
import {
  environmentVariables as variables,
  moduleName,
  pascalCase,
  tableVariable,
} from '../../shared/names.ts';
import { UsageError } from '../command.ts';
import type { Bundles } from './bundling.ts';
import { LambdaFunction, type LambdaFunctionProps } from './lambda-function.ts';
import { FIVE_MINUTES, type StageStack } from './stage-stack.ts';
import type { Table, Tables } from './storage.ts';

export type Functions = Record<OperationId | 'authorizer', LambdaFunction>;

/** Permissions of a function, and the environment variables that it needs in addition to the name of its table. */
type Access = Required<Pick<LambdaFunctionProps, 'actions' | 'resources' | 'environment'>>;

type AccessOf = (collection: Collection, table: Table, tables: Tables) => Access;

/** Access of an operation's Lambda function, by the operation's kind. */
const accessOf = {
  list: (collection, table) => ({
    actions: ['dynamodb:Query'],
    resources: listIndexes(collection).map(({ indexName }) => `${table.tableArn}/index/${indexName}`),
    environment: {},
  }),
  create: (_collection, table, { idempotencyRecords }) => ({
    actions: ['dynamodb:PutItem', 'dynamodb:GetItem'],
    resources: [table.tableArn, idempotencyRecords.tableArn],
    environment: { [variables.idempotencyTable]: idempotencyRecords.tableName },
  }),
  get: (_collection, table) => ({
    actions: ['dynamodb:GetItem'],
    resources: [table.tableArn],
    environment: {},
  }),
} satisfies Record<OperationKind, AccessOf> & Record<string, AccessOf>;

/**
 * Adds the function of each operation, and the authorizer with its alarm.
 *
 * @throws UsageError if an operation has no module in `functions/`
 */
export function addFunctions(stack: StageStack, bundles: Bundles, tables: Tables): Functions {
  const { stage } = stack;
  const { apiKeys } = tables;
  const functions = collections.flatMap((collection) =>
    Object.entries<Operation>(collection.operations).map(([kind, { id, summary }]) => {
      const table = tables.ofCollections.get(collection.plural)!;
      const { environment, ...access } = accessOf[kind as OperationKind](collection, table, tables);
      const bundle = bundles.get(moduleName(id));
      if (!bundle)
        throw new UsageError(`The operation ${id} has no function. Add functions/${moduleName(id)}.ts.`);
      const fn = new LambdaFunction(stack, pascalCase(id), {
        bundle,
        description: summary,
        environment: {
          [tableVariable(collection)]: table.tableName,
          ...(stage.publicUrl !== undefined && { [variables.publicUrl]: stage.publicUrl }),
          ...environment,
        },
        ...access,
      });
      return [id, fn] as const;
    }),
  );
  const authorizer = new LambdaFunction(stack, 'Authorizer', {
    bundle: bundles.get('authorizer')!,
    description: 'Checks the API key of a request',
    environment: { [variables.stage]: stage.name, [variables.apiKeysTable]: apiKeys.tableName },
    actions: ['dynamodb:GetItem'],
    resources: [apiKeys.tableArn],
  });
  // Errors of the other functions become 5xx responses, which the alarms of the API count.
  stack.addAlarm('AuthorizerErrors', {
    urgency: 'wake',
    section: 'Authorizer errors',
    description:
      'Clients whose API key is not cached get 503 responses. Authorizer threw an error, crashed or timed out 3 times in ' +
      '5 minutes.',
    metric: authorizer.metricErrors({ period: FIVE_MINUTES }),
    threshold: 3,
  });
  return { ...(Object.fromEntries(functions) as Record<OperationId, LambdaFunction>), authorizer };
}
