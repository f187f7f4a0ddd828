import { collections, type OperationId } from '../../shared/contract/operations.ts';
import type { CollectionTests, OperationTests } from '../support/collection-tests.ts';
import { pets } from './pets.ts';

/**
 * The tests of each collection. If `tsc` reports a missing property, add a file with the tests of the collection that has
 * this name, and import the file here.
 */
export const collectionTests: Record<(typeof collections)[number]['plural'], CollectionTests> = {
  pets,
};

/** The tests of the contract's first collection, for tests of behavior that all collections share. */
export const firstCollection = collectionTests[collections[0].plural];

/** The tests of each operation. */
export const operationTests = Object.assign(
  {},
  ...Object.values(collectionTests).map(({ operations }) => operations),
) as Record<OperationId, OperationTests>;
