import { filterCombinations } from './contract/list-query.ts';

/**
 * Indexes for lists, with the sort key `id`. Each combination of filters has an index, such as `newest-by-status` with
 * the partition key `statusPartition`. An index contains the items that have a value for each of its filters.
 */
export const listIndexes = filterCombinations.map((filters) => ({
  filters,
  indexName: filters.length > 0 ? `newest-by-${filters.join('-and-')}` : 'newest',
  partitionKey: filters.length > 0 ? `${filters.join('-')}Partition` : 'partition',
}));
