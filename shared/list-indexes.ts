import type { Collection } from './contract/collection.ts';

/** An index for one combination of a list's filters, with the sort key `id`. */
export interface ListIndex {
  filters: readonly string[];
  indexName: string;
  partitionKey: string;
}

/**
 * Returns the indexes for the list of a collection. Each combination of filters has an index, such as `newest-by-genre`
 * with the partition key `genrePartition`. An index contains the items that have a value for each of its filters.
 */
export function listIndexes({ filterCombinations }: Pick<Collection, 'filterCombinations'>): ListIndex[] {
  return filterCombinations.map((filters) => ({
    filters,
    indexName: filters.length > 0 ? `newest-by-${filters.join('-and-')}` : 'newest',
    partitionKey: filters.length > 0 ? `${filters.join('-')}Partition` : 'partition',
  }));
}
