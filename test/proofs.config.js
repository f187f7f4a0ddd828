import config, { common } from './jest.config.js';

/** `npm run proofs`: what takes too long, or needs too much, for every change. */
export default {
  ...config,
  reporters: ['default', '<rootDir>/test/support/proofs-reporter.ts'],
  projects: [{ ...common, displayName: 'proofs', testMatch: ['<rootDir>/test/**/*.proof.ts'] }],
};
