import { test } from '@jest/globals';
import { createScopes } from './creates.ts';
import { keyScopes } from './keys.ts';
import { expectNoViolation } from './schedules.ts';

// Schedules that once violated a promise, or look as if they did.

test('a retry gets the stored book if a newer version knows a field that the first version ignored', async () => {
  await expectNoViolation(
    createScopes['a create with a key, retried']!,
    /^old$/,
    /^client gets a 201 .* response is lost$/,
    /^new$/,
  );
});

test('a retry gets the stored book if the version that knew a field was rolled back', async () => {
  await expectNoViolation(
    createScopes['a create with a key, retried']!,
    /^new$/,
    /^client gets a 201 .* response is lost$/,
    /^old$/,
  );
});

test('a retry within a day gets the stored book even if the clock of the first instance was slow', async () => {
  await expectNoViolation(createScopes['a retry just before a day has passed']!, /^-300000$/);
});

test('a retry with a rotated API key gets the stored book', async () => {
  await expectNoViolation(
    createScopes['a create with a key, retried']!,
    /^client gets a 201 .* response is lost$/,
    /^with the rotated API key$/,
  );
});

test('an expired key gets no access even if its record is read slowly', async () => {
  await expectNoViolation(keyScopes['a key expires while it is checked']!, /timer ends/);
});
