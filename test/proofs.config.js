import config, { common } from './jest.config.js';

/** `npm run proofs`: tests that are too slow, or need too many tools, to run on every change. */
export default {
  ...config,
  reporters: ['default', '<rootDir>/test/support/proofs-reporter.ts'],
  projects: [{ ...common, displayName: 'proofs', testMatch: ['<rootDir>/test/**/*.proof.ts'] }],
};
