import { expect, test } from '@jest/globals';
import { stagesOf } from '../../infra/settings.ts';
import { stages } from '../../infra/stages.ts';

// Other tests use test/support/stages.ts, so that operators can change infra/stages.ts without changing a test.

test('the settings of every stage are valid', () => {
  expect(stagesOf(stages).map(({ name }) => name)).toEqual(Object.keys(stages));
});
