const folder = '.petstore/mutation';

export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { configFile: 'test/mutation/jest.config.js' },
  coverageAnalysis: 'perTest',
  // Code at the top level of a module is mutated, too: Jest loads the modules again for each test file, after StrykerJS
  // has set the active mutant. Coverage cannot attribute such a mutant to tests ("static"), so it meets all tests of
  // the files that import its module.
  ignoreStatic: false,
  mutate: ['shared/**/*.ts', 'functions/*.ts'],
  ignorePatterns: ['.git', '.petstore', 'coverage', 'cdk.out', 'docs-site'],
  concurrency: 2,
  // Jest does not free native modules: a process grew to 1.8 GB in 150 mutants.
  maxTestRunnerReuse: 50,
  // Endless loops end at a limit of hits and hanging tests by Jest's timeout. What is left is a busy machine.
  timeoutMS: 60_000,
  timeoutFactor: 1.5,
  // TypeScript 7 has no API by which StrykerJS could rewrite it.
  tsconfigFile: 'none',
  tempDirName: `${folder}/sandbox`,
  incremental: true,
  incrementalFile: `${folder}/incremental.json`,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${folder}/report.json` },
  // Types are stripped, not checked.
  disableTypeChecks: false,
  warnings: { slow: false },
};
