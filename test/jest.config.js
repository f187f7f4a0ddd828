import { fileURLToPath } from 'node:url';
import { TEST_LIMIT_MILLISECONDS } from './support/limits.ts';

const rootDir = fileURLToPath(new URL('..', import.meta.url));
export const common = {
  rootDir,
  // Node strips the types, so Jest does not compile the files.
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/\\.', '<rootDir>/cdk.out'],
  globalSetup: '<rootDir>/test/support/setup.ts',
  globalTeardown: '<rootDir>/test/support/teardown.ts',
};

export default {
  rootDir,
  coverageProvider: 'v8',
  testTimeout: TEST_LIMIT_MILLISECONDS,
  // Uses all cores, because most test files wait for child processes. By default, Jest leaves one core free.
  maxWorkers: '100%',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['<rootDir>/test/http/', '/node_modules/'],
    },
    {
      ...common,
      displayName: 'http',
      testMatch: ['<rootDir>/test/http/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/http-setup.ts',
    },
  ],
};
