import config, { common, inProject } from './jest.config.js';

/** Selects the tests for `npm run test:http`, which can also test a running service. `npm test` never does. */
export default {
  ...config,
  projects: [
    {
      ...common,
      displayName: 'http',
      testRegex: inProject('test/http/.*\\.test\\.ts$'),
      globalSetup: '<rootDir>/test/support/base-url-setup.ts',
    },
  ],
};
