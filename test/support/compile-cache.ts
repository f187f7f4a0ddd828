import { join } from 'node:path';

/**
 * For the environment of processes that tests start: half of what a start takes is compiling the SDK, and those of one
 * run share what comes of it.
 */
export function sharedCompileCache(): { NODE_COMPILE_CACHE?: string } {
  const folder = process.env['PET_STORE_TEST_RUN'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: join(folder, 'compiled') };
}
