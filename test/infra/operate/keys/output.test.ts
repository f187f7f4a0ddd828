import { expect, jest, test } from '@jest/globals';
import { printList } from '../../../../infra/operate/keys/output.ts';
import { type ApiKeyRecord, newApiKey } from '../../../../shared/api-keys.ts';

const { record } = newApiKey('staging', { owner: 'Acme', caller: 'jane' });

async function linesOf(records: ApiKeyRecord[]): Promise<string[]> {
  let output = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((...parameters: any[]) => {
    output += parameters[0];
    parameters.at(-1)();
    return true;
  });
  await printList(records);
  jest.restoreAllMocks();
  return output.split('\n');
}

test('the list of keys has a line for each of 200,000 keys', async () => {
  const lines = await linesOf(Array<ApiKeyRecord>(200_000).fill(record));
  expect(lines).toHaveLength(200_002);
  expect(lines[200_000]).toContain(record.keyId);
});

// Anyone who can write to the table can store attributes of up to 400 KB, so the list must be able to show them.
test('the list of keys shows an attribute of 400 KB, and no line ends with spaces', async () => {
  const lines = await linesOf([{ ...record, start: 'x'.repeat(400_000) }, record]);
  expect(lines[1]!.includes(` ${'x'.repeat(400_000)} `)).toBe(true);
  expect(lines[2]!.startsWith(`${record.keyId}  ${record.start.padEnd(400_000)}  `)).toBe(true);
  for (const line of lines) expect(line.endsWith(' ')).toBe(false);
});
