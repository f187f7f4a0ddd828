import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('..', import.meta.url));
const common = {
  rootDir,
  // Node strips the types; nothing is compiled.
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.petstore', '<rootDir>/cdk.out'],
};

export default {
  rootDir,
  coverageProvider: 'v8',
  // For a loaded machine; what takes longer on purpose says so itself.
  testTimeout: 60_000,
  // Most files wait for processes that they start; by default one core would be left free.
  maxWorkers: '100%',
  projects: [
    {
      ...common,
      displayName: 'unit',
      globalSetup: '<rootDir>/test/support/run-setup.ts',
      globalTeardown: '<rootDir>/test/support/run-teardown.ts',
      testMatch: [
        '<rootDir>/test/{shared,functions,infra,reliability,fuzz,bench,browser,clients}/**/*.test.ts',
        '<rootDir>/test/*.test.ts',
      ],
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
