import { dirname, relative } from 'node:path';
import { defaultDataFolder } from '../../infra/local/local-service.ts';
import { MUTANT_LIMIT_MILLISECONDS } from '../support/limits.ts';

const folder = relative('.', defaultDataFolder('mutation'));

export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  // These tests run shared/ and functions/ in process. init.test.ts is excluded, because it runs bundles.
  jest: {
    // If enabled, Jest would skip the tests that import functions dynamically.
    enableFindRelatedTests: false,
    // This file contains no configuration of Jest. StrykerJS would otherwise add test/jest.config.js to the one below.
    configFile: 'test/mutation/package.json',
    config: {
      rootDir: '.',
      transform: {},
      extensionsToTreatAsEsm: ['.ts'],
      testTimeout: MUTANT_LIMIT_MILLISECONDS,
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/functions/init.test.ts'],
      testMatch: ['<rootDir>/test/{shared,functions}/**/*.test.ts'],
    },
  },
  // For each mutant, only the tests that run the mutated code run. For top-level code of a module, all tests run.
  coverageAnalysis: 'perTest',
  mutate: ['shared/**/*.ts', 'functions/*.ts'],
  ignorePatterns: ['.git', dirname(folder), 'coverage', 'cdk.out', 'docs-site'],
  concurrency: 2,
  // A process ends after this number of mutants, because its memory grows: Jest does not free native modules.
  maxTestRunnerReuse: 40,
  // The limit is long because machines can be busy. StrykerJS stops most endless loops earlier.
  timeoutMS: 30_000,
  // StrykerJS cannot rewrite the TypeScript configuration, because TypeScript 7 has no API for it.
  tsconfigFile: 'none',
  // StrykerJS need not disable type checks, because Node strips types without checking them.
  disableTypeChecks: false,
  tempDirName: `${folder}/sandbox`,
  incremental: true,
  incrementalFile: `${folder}/incremental.json`,
  reporters: ['clear-text', 'dots'],
  clearTextReporter: { logTests: false },
  thresholds: { break: 85 },
  warnings: { slow: false },
};
