import { fileURLToPath } from 'node:url';
import { MUTANT_LIMIT_MILLISECONDS } from '../support/limits.ts';

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Fast tests that run shared/ and functions/ in process. No Jest projects, because StrykerJS supports only one. */
export default {
  rootDir: pathOf('../..'),
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.petstore', '<rootDir>/cdk.out'],
  runner: pathOf('nearest-first-runner.js'),
  testEnvironment: pathOf('failing-fast-environment.js'),
  // A mutant can make a test hang.
  testTimeout: MUTANT_LIMIT_MILLISECONDS,
  // init.test.ts runs bundles, which contain no mutants, and depends on time.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/functions/init.test.ts'],
  testMatch: [
    '<rootDir>/test/{shared,functions}/**/*.test.ts',
    '<rootDir>/test/reliability/{creates,faults,key-expiry}.test.ts',
    '<rootDir>/test/infra/documents/openapi/{contract,document}.test.ts',
    '<rootDir>/test/infra/operate/keys/options.test.ts',
    '<rootDir>/test/infra/stack/gateway-responses.test.ts',
    '<rootDir>/test/key-scanning.test.ts',
  ],
};
