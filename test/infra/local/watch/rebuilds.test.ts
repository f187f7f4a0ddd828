import { expect, jest, test } from '@jest/globals';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const workFolder = temporaryFolder();
const message = 'inotify_add_watch failed: No space left on device';
jest.unstable_mockModule('@parcel/watcher', () => ({
  subscribe: async () => {
    throw new Error(message);
  },
}));
const { startRebuilds } = await import('../../../../infra/local/watch/rebuilds.ts');

test('sources that the system cannot watch are told of in a sentence that says what to do', async () => {
  const starting = startRebuilds({
    functions: [],
    sources: { files: [], notices: () => [] },
    workFolder,
    swapped: () => {},
  });
  await expect(starting).rejects.toMatchObject({
    name: 'RunnerError',
    message: `The sources cannot be watched (${message}): start without --watch, or raise the system's limit (on Linux fs.inotify.max_user_watches).`,
  });
});
