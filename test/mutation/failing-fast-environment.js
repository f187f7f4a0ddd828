import { createRequire } from 'node:module';

const { TestEnvironment } = createRequire(import.meta.url)('jest-environment-node');

/** Skips a file's remaining tests after a failure, because the mutant could make each of them hang. */
export default class FailingFastEnvironment extends TestEnvironment {
  #hasFailed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_done') this.#hasFailed ||= test.errors.length > 0;
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
  }
}
