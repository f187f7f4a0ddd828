import { expect, test } from '@jest/globals';
import { ClassicLevel } from 'classic-level';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireIntactLog } from '../../../../infra/local/dynamodb/level-log.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folders = temporaryFolder();

/** @returns the log of a store with more than one block of records, and one that takes several. */
async function writeStore() {
  const folder = mkdtempSync(join(folders, 'store-'));
  const store = new ClassicLevel(folder);
  for (let index = 0; index < 300; index += 1) await store.put(`key ${index}`, 'x'.repeat(index));
  await store.put('large', 'y'.repeat(100_000));
  await store.close();
  const [log = ''] = globSync(join(folder, '*.log'));
  return { folder, log, bytes: readFileSync(log) };
}

test('a log is intact as LevelDB wrote it, and if its process was killed while it wrote', async () => {
  const { folder, log, bytes } = await writeStore();
  expect(bytes.length).toBeGreaterThan(140_000);
  for (const missing of [0, 1, 100]) {
    writeFileSync(log, bytes.subarray(0, bytes.length - missing));
    expect(() => requireIntactLog(folder)).not.toThrow();
  }
});

test('a log is damaged if any bit before its end differs, or if it is gone', async () => {
  const { folder, log, bytes } = await writeStore();
  for (let position = 0; position < bytes.length - 33_000; position += 997) {
    const damaged = Buffer.from(bytes);
    damaged[position]! ^= 1 << (position % 8);
    writeFileSync(log, damaged);
    expect(() => requireIntactLog(folder)).toThrow(`${log} is damaged`);
  }
  rmSync(log);
  expect(() => requireIntactLog(folder)).toThrow(`${folder} has no log`);
});

test('a folder without data is a new store', () => {
  const folder = mkdtempSync(join(folders, 'store-'));
  writeFileSync(join(folder, 'LOCK'), '');
  expect(() => requireIntactLog(folder)).not.toThrow();
});
