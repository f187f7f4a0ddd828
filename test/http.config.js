import config, { common, inProject } from './jest.config.js';

/** Selects the tests for `npm run test:http`, which can also test a running service. `npm test` never does. */
export default {
  ...config,
  projects: [
    {
      ...common,
      displayName: 'http',
      testRegex: inProject('test/http/.*\\.test\\.ts$'),
      // This test puts the local service below a path.
      testPathIgnorePatterns: [inProject('test/http/base-path')],
      globalSetup: '<rootDir>/test/support/base-url-setup.ts',
    },
  ],
};
