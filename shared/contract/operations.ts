import type { Operation } from './operation.ts';
import { pets } from './pets.ts';

/** All collections of the API, each with its operations by kind. */
export const collections = [pets] as const;

// The conditional types distribute over the collections, because collections can have different operations.
type KeyOf<T> = T extends unknown ? keyof T : never;
type ValueOf<T> = T extends unknown ? T[keyof T] : never;
type Operations = (typeof collections)[number]['operations'];

/** Kind of an operation, such as `list`. */
export type OperationKind = KeyOf<Operations>;
export type OperationId = ValueOf<Operations>['id'];

/** All operations of the API by id. */
export const operations = Object.fromEntries(
  collections
    .flatMap((collection) => Object.values<Operation>(collection.operations))
    .map((operation) => [operation.id, operation]),
) as Record<OperationId, Operation>;
