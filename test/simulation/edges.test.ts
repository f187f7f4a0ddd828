import { describe, expect, test } from '@jest/globals';
import { expectNoViolation, runSchedule } from './schedules.ts';
import { scopes } from './scopes.ts';

describe.each(Object.entries(scopes))('in the simulation "%s",', (_name, scope) => {
  test('all promises hold if nothing fails', async () => {
    const { counterExample } = await runSchedule(scope, []);
    expect(counterExample).toBeUndefined();
  });

  // The events can differ if the code under test sees the clock, timers or random numbers of the real machine.
  test('a repeated schedule has the same events', async () => {
    const schedule = [0, 3, 0, 1];
    const { lines } = await runSchedule(scope, schedule);
    expect((await runSchedule(scope, schedule)).lines).toEqual(lines);
  });
});

// Each test below runs a schedule that comes close to violating the promise in its name.

test('a retry gets the stored book if a newer version knows a field that the first version ignored', async () => {
  await expectNoViolation(
    scopes['a create with a key, retried']!,
    /^old$/,
    /^client 1 gets a 201 .* response is lost$/,
    /^new$/,
  );
});

test('a retry gets the stored book if the version that knew a field was rolled back', async () => {
  await expectNoViolation(
    scopes['a create with a key, retried']!,
    /^new$/,
    /^client 1 gets a 201 .* response is lost$/,
    /^old$/,
  );
});

test('a retry with a rotated API key gets the stored book', async () => {
  await expectNoViolation(
    scopes['a create with a key, retried']!,
    /^client 1 gets a 201 .* response is lost$/,
    /^with the rotated API key$/,
  );
});

test('a retry within a day gets the stored book even if the clocks of the instances differ by ten minutes', async () => {
  await expectNoViolation(
    scopes['a retry just before a day has passed']!,
    /^the clock is slow$/,
    /^client 1 gets a 201/,
    /^the clock is fast$/,
  );
});

test('a later page skips no book that was stored some seconds before the first page, even if it is read from a lagging replica', async () => {
  await expectNoViolation(
    scopes['pages of a list while books are created']!,
    /^reader gets a 200/,
    /^replica 1 of newest lags$/,
  );
});

test('an expired key gets no access even if its record is read slowly', async () => {
  await expectNoViolation(scopes['a key expires while it is checked']!, /timer ends/);
});

test('a second operator who waits five minutes does not revoke the successor of a rotation', async () => {
  await expectNoViolation(
    scopes['a second operator completes an interrupted rotation']!,
    /^first operator: UpdateItem keys .* arrives after two minutes$/,
    /^first operator is killed$/,
  );
});

test('a second operator does not revoke a key that a client has', async () => {
  await expectNoViolation(
    scopes['a second operator completes an interrupted rotation']!,
    /^first operator: UpdateItem keys .* is lost$/,
    /^first operator is killed$/,
    /^a client has the key$/,
  );
});
