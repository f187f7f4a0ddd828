const folder = '.petstore/mutation';

export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { configFile: 'test/mutation/jest.config.js' },
  coverageAnalysis: 'perTest',
  // Code at the top level of a module is mutated too, because Jest reloads modules for each test file after StrykerJS
  // has set the active mutant. Coverage cannot attribute such a "static" mutant to tests, so all tests of the files
  // that import its module run.
  ignoreStatic: false,
  mutate: ['shared/**/*.ts', 'functions/*.ts'],
  ignorePatterns: ['.git', '.petstore', 'coverage', 'cdk.out', 'docs-site'],
  concurrency: 2,
  // Jest does not free native modules, so a process grew to 1.8 GB in 150 mutants.
  maxTestRunnerReuse: 50,
  // StrykerJS stops endless loops by a hit limit, and Jest stops hanging tests. This timeout is for a busy machine.
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
