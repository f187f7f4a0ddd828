const folder = '.petstore/mutation';

export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { configFile: 'test/mutation/jest.config.js' },
  coverageAnalysis: 'perTest',
  ignoreStatic: false,
  mutate: ['shared/**/*.ts', 'functions/*.ts'],
  ignorePatterns: ['.git', '.petstore', 'coverage', 'cdk.out', 'docs-site'],
  concurrency: 2,
  // Jest never frees the modules of a test file: a process would grow by 10 MB a mutant.
  maxTestRunnerReuse: 50,
  timeoutMS: 5_000,
  timeoutFactor: 1.5,
  // TypeScript 7 has no API by which StrykerJS could rewrite it.
  tsconfigFile: 'none',
  tempDirName: `${folder}/sandbox`,
  incremental: true,
  incrementalFile: `${folder}/incremental.json`,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${folder}/report.json` },
  allowEmpty: true,
  disableTypeChecks: false,
  warnings: { slow: false },
};
