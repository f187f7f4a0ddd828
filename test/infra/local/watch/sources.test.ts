import { expect, jest, test } from '@jest/globals';

const message = 'inotify_add_watch failed: No space left on device';
jest.unstable_mockModule('@parcel/watcher', () => ({
  subscribe: async () => {
    throw new Error(message);
  },
}));
const { watchSources } = await import('../../../../infra/local/watch/watch.ts');

test('watchSources throws a UsageError if the system cannot watch the sources', async () => {
  await expect(watchSources('.petstore', () => {})).rejects.toMatchObject({
    name: 'UsageError',
    message: `The sources cannot be watched (${message}). Start without --watch, or raise the system's limit (on Linux, fs.inotify.max_user_watches).`,
  });
});
