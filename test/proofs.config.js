import config, { common, inProject } from './jest.config.js';

/** Selects the tests for `npm run proofs`, which are too slow or need too many tools to be part of `npm test`. */
export default {
  ...config,
  projects: [{ ...common, displayName: 'proofs', testRegex: inProject('test/.*\\.proof\\.ts$') }],
};
