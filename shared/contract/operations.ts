import { pets } from './pets.ts';

/** All collections of the API, each with its operations by kind. */
export const collections = [pets] as const;

type Collections = (typeof collections)[number];
type OperationsByKind = Collections['operations'];
type AnyOperation = OperationsByKind extends infer O ? (O extends unknown ? O[keyof O] : never) : never;

/** Kind of an operation, such as `list`. */
export type OperationKind = OperationsByKind extends infer O ? (O extends unknown ? keyof O : never) : never;
export type OperationId = AnyOperation['id'];

/** All operations of the API by id. */
export const operations = Object.fromEntries(
  collections
    .flatMap((collection) => Object.values<AnyOperation>(collection.operations))
    .map((operation) => [operation.id, operation]),
) as { [O in AnyOperation as O['id']]: O };
