import { fileURLToPath } from 'node:url';
import { MUTANT_LIMIT_MILLISECONDS } from '../support/limits.ts';

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Selects fast tests that run shared/ and functions/ in process. StrykerJS does not support multiple Jest projects. */
export default {
  rootDir: pathOf('../..'),
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.petstore', '<rootDir>/cdk.out'],
  runner: pathOf('nearest-first-runner.js'),
  testEnvironment: pathOf('failing-fast-environment.js'),
  // Mutants can make tests hang, so the timeout is short.
  testTimeout: MUTANT_LIMIT_MILLISECONDS,
  // init.test.ts runs bundles, which contain no mutants.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/functions/init.test.ts'],
  testMatch: [
    '<rootDir>/test/{shared,functions}/**/*.test.ts',
    '<rootDir>/test/reliability/{creates,faults,key-expiry}.test.ts',
    '<rootDir>/test/infra/documents/openapi/{contract,document}.test.ts',
    '<rootDir>/test/infra/operate/keys/arguments.test.ts',
    '<rootDir>/test/infra/stack/gateway-responses.test.ts',
    '<rootDir>/test/key-scanning.test.ts',
  ],
};
