import { createRequire } from 'node:module';
import { dirname, relative } from 'node:path';

const { default: TestRunner } = createRequire(import.meta.url)('jest-runner');

/** Runs the tests closest to the mutated file first and stops after a failed file. Jest's `bail` would exit Node. */
export default class NearestFirstRunner extends TestRunner {
  #globalConfig;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#globalConfig = globalConfig;
  }

  runTests(tests, watcher, options) {
    const interrupt = () => void watcher.setState({ interrupted: true });
    this.on('test-file-success', ([, { numFailingTests }]) => {
      if (numFailingTests > 0) interrupt();
    });
    this.on('test-file-failure', interrupt);
    const { rootDir, nonFlagArgs } = this.#globalConfig;
    const mutated = nonFlagArgs.length === 1 ? relative(rootDir, nonFlagArgs[0]) : '';
    const nearest = tests.toSorted((one, other) => distance(one) - distance(other));
    return super.runTests(nearest, watcher, options);

    function distance({ path }) {
      const test = relative(`${rootDir}/test`, path);
      if (test.startsWith(mutated.replace('.ts', ''))) return 0;
      if (dirname(test) === dirname(mutated)) return 1;
      return test.startsWith('shared/') || test.startsWith('functions/') ? 2 : 3;
    }
  }
}
