import config, { sharingSynthesis } from './jest.config.js';

/** `npm run proofs`: what takes too long, or needs too much, for every change. */
export default {
  ...config,
  reporters: ['default', '<rootDir>/test/support/proofs-reporter.ts'],
  projects: [{ ...sharingSynthesis, displayName: 'proofs', testMatch: ['<rootDir>/test/**/*.proof.ts'] }],
};
