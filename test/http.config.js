import config, { common, inProject } from './jest.config.js';
import { PROOF_LIMIT_MILLISECONDS } from './support/limits.ts';

/** Selects the tests for `npm run test:http`, which can also test a running service. `npm test` never does. */
export default {
  ...config,
  testTimeout: PROOF_LIMIT_MILLISECONDS,
  projects: [
    {
      ...common,
      displayName: 'http',
      testRegex: inProject('test/http/.*\\.test\\.ts$'),
      // This test puts the local service below a path.
      testPathIgnorePatterns: [inProject('test/http/base-path')],
      globalSetup: '<rootDir>/test/http/base-url-setup.ts',
    },
  ],
};
