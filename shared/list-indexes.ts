import { filterCombinations } from './contract/list-query.ts';

/**
 * Indexes of the lists, sorted by `id`. There is one index for each combination of filters, such as `newest-by-status` with
 * the partition key `statusPartition`. An index contains the items that have a value for each of its filters.
 */
export const listIndexes = filterCombinations.map((filters) => ({
  filters,
  indexName: filters.length > 0 ? `newest-by-${filters.map(kebabCase).join('-and-')}` : 'newest',
  partitionKey: camelCase([...filters, 'partition']),
}));

function kebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camelCase([first = '', ...others]: string[]): string {
  return first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
