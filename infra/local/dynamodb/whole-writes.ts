import engine, { type IndexActions, type Item, type Store, type Table } from 'dynalite/db/index.js';

// dynalite 4.0.0 writes the entries of the indexes and then the item. Killed in between, it would list for good what
// cannot be read. In one batch all of it is written or nothing; the write of the item that follows changes nothing.
Object.assign(engine, {
  updateIndexes(
    store: Store,
    table: Table,
    before: Item | undefined,
    after: Item | undefined,
    callback: (error?: Error) => void,
  ): void {
    if (!before && !after) return callback();
    const key = `item-${table.TableName}~${engine.createKey((after ?? before)!, table)}`;
    store.db.batch(
      [
        ...indexWrites(
          table,
          'local',
          engine.getIndexActions(table.LocalSecondaryIndexes ?? [], before, after, table),
        ),
        ...indexWrites(
          table,
          'global',
          engine.getIndexActions(table.GlobalSecondaryIndexes ?? [], before, after, table),
        ),
        after ? { type: 'put', key, value: after } : { type: 'del', key },
      ],
      callback,
    );
  },
});

function indexWrites({ TableName }: Table, kind: string, { deletes, puts }: IndexActions): object[] {
  const prefix = `index-${kind}~${TableName}~`;
  return [
    ...deletes.map(({ index, key }) => ({ type: 'del', key: `${prefix}${index}~${key}` })),
    ...puts.map(({ index, key, item }) => ({ type: 'put', key: `${prefix}${index}~${key}`, value: item })),
  ];
}
