import { expect, jest, test } from '@jest/globals';
import * as fs from 'node:fs';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const reason = 'ENOSPC: System limit for number of file watchers reached';
function watch(): never {
  throw new Error(reason);
}
jest.unstable_mockModule('node:fs', () => ({ ...fs, watch }));
const folder = temporaryFolder();
const { startWatch } = await import('../../../infra/local/watch.ts');

test('startWatch throws a UsageError if the system cannot watch the sources', async () => {
  const emulator = { functions: new Map(), api: {} };
  await expect(startWatch(emulator as never, folder)).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringMatching(
      /^The sources cannot be watched \(ENOSPC.*fs\.inotify\.max_user_watches\)\.$/,
    ),
  });
});
