import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

// Jest would otherwise fail in each test file, and recommend a version of Node.
if (!('SourceTextModule' in vm) || !process.features.typescript)
  throw new Error(
    'Jest needs Node 24 and its option --experimental-vm-modules, to which NODE_OPTIONS can be set. npm test has both.',
  );
// An older Node cannot import this file.
const { TEST_LIMIT_MILLISECONDS } = await import('./support/limits.ts');

const rootDir = fileURLToPath(new URL('..', import.meta.url));
/**
 * Returns a regular expression for paths in the project. Jest's `<rootDir>` and glob patterns would fail if the path of the
 * project contains special characters, such as `c++` or `[old]`.
 *
 * @param pattern regular expression for the rest of the path
 */
export function inProject(pattern) {
  return `^${rootDir.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}${pattern}`;
}

export const common = {
  rootDir,
  // Node strips the types, so Jest does not compile the files.
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: [inProject('\\.'), inProject('cdk\\.out')],
  globalSetup: '<rootDir>/test/support/setup.ts',
  globalTeardown: '<rootDir>/test/http/teardown.ts',
};

export default {
  rootDir,
  coverageProvider: 'v8',
  testTimeout: TEST_LIMIT_MILLISECONDS,
  // By default, Jest leaves one core free.
  maxWorkers: '100%',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testRegex: inProject('test/(?!http/).*\\.test\\.ts$'),
    },
    {
      ...common,
      displayName: 'http',
      testRegex: inProject('test/http/.*\\.test\\.ts$'),
      globalSetup: '<rootDir>/test/http/setup.ts',
    },
  ],
};
