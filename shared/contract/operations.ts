import type { Operation } from './operation.ts';
import { petOperations } from './pets.ts';

/** All operations of the API by id. */
export const operations = { ...petOperations };

export type OperationId = keyof typeof operations;

/** The operation that lists the resource. It needs no parameters. */
export const listOperation: Operation = operations.listPets;
