import { expect, test } from '@jest/globals';
import { runAllSchedules } from './schedules.ts';
import { scopes } from './scopes.ts';

test.each(Object.entries(scopes))(
  'the promises hold in all schedules with up to one deviation: %s',
  async (_name, scope) => {
    const { count, counterExample } = await runAllSchedules(scope, 1);
    expect(counterExample).toBeUndefined();
    expect(count).toBeGreaterThan(2);
  },
);
