import { expect, test } from '@jest/globals';
import { ClassicLevel } from 'classic-level';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireIntactLog } from '../../../../infra/local/dynamodb/level-log.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folders = temporaryFolder();

/** Writes the values to a new store. The folder's name contains glob characters to check that they are escaped. */
async function writeStore(values: string[]) {
  const folder = mkdtempSync(join(folders, 'store[1]-'));
  const store = new ClassicLevel(folder);
  for (const [index, value] of values.entries()) await store.put(`key ${index}`, value);
  await store.close();
  const log = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.log'))!,
  );
  return { folder, log, bytes: readFileSync(log) };
}

/** Values that fill several blocks of a log. The last value is longer than a block. */
const many = [...Array.from({ length: 300 }, (_, index) => 'x'.repeat(index)), 'y'.repeat(100_000)];

test('requireIntactLog accepts a log with a complete or interrupted last write', async () => {
  const { folder, log, bytes } = await writeStore(many);
  expect(bytes.length).toBeGreaterThan(140_000);
  for (const missing of [0, 1, 100]) {
    writeFileSync(log, bytes.subarray(0, bytes.length - missing));
    expect(() => requireIntactLog(folder)).not.toThrow();
  }
});

test.each([
  ['one block', ['Rex', 'Mia', 'Tom'], 1],
  ['several blocks', many, 997],
])('requireIntactLog rejects a damaged or missing log of %s', async (...row) => {
  const [, values, step] = row;
  const { folder, log, bytes } = await writeStore(values);
  const end = bytes.lastIndexOf(values.length > 3 ? 'key 299' : 'key 1');
  for (let position = 0; position < end; position += step) {
    const damaged = Buffer.from(bytes);
    damaged[position]! ^= 1 << (position % 8);
    writeFileSync(log, damaged);
    expect(() => requireIntactLog(folder)).toThrow(`${log} is damaged`);
  }
  rmSync(log);
  expect(() => requireIntactLog(folder)).toThrow(`${folder} has no log file`);
});

test('requireIntactLog accepts a folder without data', () => {
  const folder = mkdtempSync(join(folders, 'store-'));
  writeFileSync(join(folder, 'LOCK'), '');
  expect(() => requireIntactLog(folder)).not.toThrow();
});
