import type { OperationId } from '../../shared/contract/operations.ts';
import type { OperationTests } from '../support/operation-tests.ts';
import { tests as createPet } from './create-pet.ts';
import { tests as getPet } from './get-pet.ts';
import { tests as listPets } from './list-pets.ts';

/** The tests of each operation. If `tsc` reports a missing property, add a file for the operation with this id. */
export const operationTests: Record<OperationId, OperationTests> = { createPet, getPet, listPets };
