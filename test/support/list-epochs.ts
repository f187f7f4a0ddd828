/** Returns the value of LIST_PARTITIONS for a stage whose number of list partitions has never changed. */
export function oneEpoch(count: number): string {
  return JSON.stringify([{ since: '2025-01-01T00:00:00Z', count }]);
}
