const folder = '.petstore/mutation';

export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { configFile: 'test/mutation/jest.config.js' },
  coverageAnalysis: 'perTest',
  // Static mutants are in a module's top-level code. They take effect because Jest reloads modules for each test file.
  // Coverage cannot assign a static mutant to tests, so all tests that import its module run.
  ignoreStatic: false,
  mutate: ['shared/**/*.ts', 'functions/*.ts'],
  ignorePatterns: ['.git', '.petstore', 'coverage', 'cdk.out', 'docs-site'],
  concurrency: 2,
  // Jest does not free native modules, so a process grew to 1.8 GB in 150 mutants without this limit.
  maxTestRunnerReuse: 50,
  // The timeout is long because machines can be busy. StrykerJS and Jest stop endless loops and hanging tests earlier.
  timeoutMS: 60_000,
  timeoutFactor: 1.5,
  // StrykerJS cannot rewrite the TypeScript configuration, because TypeScript 7 has no API for it.
  tsconfigFile: 'none',
  tempDirName: `${folder}/sandbox`,
  incremental: true,
  incrementalFile: `${folder}/incremental.json`,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${folder}/report.json` },
  // Node strips types without checking them, so there is nothing to disable.
  disableTypeChecks: false,
  warnings: { slow: false },
};
