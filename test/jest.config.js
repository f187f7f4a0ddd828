import { fileURLToPath } from 'node:url';
import { TEST_LIMIT_MILLISECONDS } from './support/limits.ts';

const rootDir = fileURLToPath(new URL('..', import.meta.url));
const common = {
  rootDir,
  // Node strips the types; nothing is compiled.
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.petstore', '<rootDir>/cdk.out'],
};

/** Test files that share one synthesis. */
export const sharingSynthesis = {
  ...common,
  globalSetup: '<rootDir>/test/support/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/run-teardown.ts',
};

export default {
  rootDir,
  coverageProvider: 'v8',
  testTimeout: TEST_LIMIT_MILLISECONDS,
  // Most files wait for processes that they start; by default one core would be left free.
  maxWorkers: '100%',
  projects: [
    {
      ...sharingSynthesis,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['<rootDir>/test/http/', '/node_modules/'],
    },
    {
      ...common,
      displayName: 'http',
      testMatch: ['<rootDir>/test/http/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/http-setup.ts',
      globalTeardown: '<rootDir>/test/support/http-teardown.ts',
    },
  ],
};
