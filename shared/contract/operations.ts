import { petOperations } from './pets.ts';

/** All operations of the API by id. */
export const operations = { ...petOperations };

export type OperationId = keyof typeof operations;
