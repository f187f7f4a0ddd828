import config, { common, inProject } from './jest.config.js';
import { PROOF_LIMIT_MILLISECONDS } from './support/limits.ts';

/** Selects the tests for `npm run proofs`, which are too slow or need too many tools to be part of `npm test`. */
export default {
  ...config,
  testTimeout: PROOF_LIMIT_MILLISECONDS,
  projects: [{ ...common, displayName: 'proofs', testRegex: inProject('test/.*\\.proof\\.ts$') }],
};
