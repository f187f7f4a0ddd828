import { pets } from './pets.ts';

/** All collections of the API, each with its operations by kind. */
export const collections = [pets] as const;

type Collections = (typeof collections)[number];
type OperationsByKind = Collections['operations'];
type KeyOf<T> = T extends unknown ? keyof T : never;
type ValueOf<T> = T extends unknown ? T[keyof T] : never;
type AnyOperation = ValueOf<OperationsByKind>;

/** Kind of an operation, such as `list`. */
export type OperationKind = KeyOf<OperationsByKind>;
export type OperationId = AnyOperation['id'];

/** All operations of the API by id. */
export const operations = Object.fromEntries(
  collections
    .flatMap((collection) => Object.values<AnyOperation>(collection.operations))
    .map((operation) => [operation.id, operation]),
) as { [O in AnyOperation as O['id']]: O };
